// SPDX-License-Identifier: MIT
// Threads that the page makes for a library in a worker. If a worker in Firefox makes a thread itself, it sometimes
// waits forever: the worker and the thread wait for the same signal, and only one of them gets it.

/** Makes threads in the page for a library that was loaded with `port`. `end()` ends them. */
export function lendThreads() {
  const { port1, port2 } = new MessageChannel(),
    threads = new Map();
  port1.onmessage = ({ data: { id, script, message, end } }) => {
    if (script) {
      const failed = ({ filename, lineno, message }) => port1.postMessage({ id, error: { filename, lineno, message } });
      try {
        const thread = new Worker(script, { type: 'module' });
        thread.onmessage = ({ data }) => port1.postMessage({ id, message: data });
        thread.onerror = failed;
        threads.set(id, thread);
      } catch (error) {
        // The script has another origin, or the page's policy forbids it.
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
let lastId = 0;

/**
 * A thread at the other end of the port, for the worker. It has the part of Worker's interface that Emscripten uses.
 */
export class BorrowedThread {
  #id = ++lastId;
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
