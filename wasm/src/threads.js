// SPDX-License-Identifier: MIT
// Threads that the page or process makes for a library in a worker. If a worker in Firefox makes a thread itself, it
// sometimes waits forever. The worker and the thread wait for the same signal, and only one of them gets it. Only the
// maker of a thread learns the reason if it fails.

const inPage = (script) => new Worker(script, { type: 'module' });

/**
 * Makes threads for a library that was loaded with `port`. `end()` ends them. Calls onFailure(message) if a thread
 * fails after it was loaded. The library reports earlier failures. `makeThread` makes a thread of a script.
 */
export function lendThreads(onFailure = () => {}, makeThread = inPage) {
  const { port1, port2 } = new MessageChannel(),
    threads = new Map();
  port1.onmessage = ({ data: { id, script, message, end } }) => {
    if (script) {
      let loaded = false;
      const failed = ({ filename, lineno, message }) => {
        port1.postMessage({ id, error: { filename, lineno, message } });
        if (loaded) onFailure(message);
      };
      try {
        const thread = makeThread(script);
        thread.onmessage = ({ data }) => {
          loaded = true; // a thread's first message says so
          port1.postMessage({ id, message: data });
        };
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
  port1.unref?.();
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

  /** Emscripten also listens like this in Node, to call onmessage and onerror. The port calls them. */
  on() {}

  postMessage(message) {
    this.#port.postMessage({ id: this.#id, message });
  }

  terminate() {
    borrowed.delete(this.#id);
    this.#port.postMessage({ id: this.#id, end: true });
  }
}
