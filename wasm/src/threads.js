// SPDX-License-Identifier: MIT
// Threads for a library in a worker, made by the page: in Firefox a worker that makes one itself now and then waits for
// ever, as it and its new thread wait for one signal of which either may get the only one.

/** For the page: makes threads for the library that load() was given `port` with; they go with `end()`. */
export function lendThreads() {
  const { port1, port2 } = new MessageChannel(), threads = new Map();
  port1.onmessage = ({ data: { id, script, message, end } }) => {
    if (script) {
      const failed = ({ filename, lineno, message }) => port1.postMessage({ id, error: { filename, lineno, message } });
      try {
        const thread = new Worker(script, { type: 'module' });
        thread.onmessage = ({ data }) => port1.postMessage({ id, message: data });
        thread.onerror = failed;
        threads.set(id, thread);
      } catch (error) {  // of another origin, or against the page's policy
        failed(error);
      }
    } else if (end) {
      threads.get(id)?.terminate();
      threads.delete(id);
    } else {
      threads.get(id)?.postMessage(message);
    }
  };
  const end = () => {
    port1.close();
    for (const thread of threads.values()) thread.terminate();
    threads.clear();
  };
  return { port: port2, end };
}

const borrowed = new Map();
let made = 0;

/** For the worker: a thread at the other end of the port, as far as Emscripten's code looks at it like a Worker. */
export class BorrowedThread {
  #id = ++made;
  #port;

  constructor(port, script) {
    this.#port = port;
    borrowed.set(this.#id, this);
    port.onmessage = ({ data: { id, message, error } }) => {
      const thread = borrowed.get(id);
      if (error) thread?.onerror(error);
      else thread?.onmessage({ data: message });
    };
    port.postMessage({ id: this.#id, script });
  }

  postMessage(message) {
    this.#port.postMessage({ id: this.#id, message });
  }

  terminate() {
    borrowed.delete(this.#id);
    this.#port.postMessage({ id: this.#id, end: true });
  }
}
