// SPDX-License-Identifier: MIT
// The connection to the worker in which the library runs. Requests and answers have numbers.
import { builtin, node } from './environment.js';
import { KaisekiError } from './error.js';
import { lendThreads } from './threads.js';

/** Makes a thread with Node's class `Thread`, and with the part of a page's interface that lendThreads() uses. */
function inProcess(Thread, script) {
  const thread = new Thread(new URL(script));
  thread.on('message', (data) => thread.onmessage({ data }));
  thread.on('error', (error) => thread.onerror(error));
  thread.unref();
  return thread;
}

/** Connections with a request in progress. Firefox collects a connection that only its awaiting caller refers to. */
const awaiting = new Set();

export class Connection {
  #worker;
  #lent;
  #pending = new Map();
  #requests = 0;
  #end;
  #resolveClosed;

  /** Resolves when the worker has ended: with the error, or with undefined after close(). */
  closed = new Promise((resolve) => {
    this.#resolveClosed = resolve;
  });

  static async open() {
    const connection = new Connection(),
      fail = (error) => connection.#fail(error?.message),
      failThread = (message) => connection.#fail(`a thread failed: ${message}`);
    if (node) {
      const { Worker: Thread } = await builtin('worker_threads'),
        here = import.meta.url;
      // Without this process's flags: --input-type does not apply to files.
      connection.#worker = new Thread(new URL('./worker.js', here), { execArgv: [] });
      connection.#worker.on('message', (message) => connection.#receive(message));
      connection.#worker.on('error', fail);
      connection.#worker.on('exit', () => fail());
      connection.#worker.unref();
      connection.#lent = lendThreads(failThread, (script) => inProcess(Thread, script));
    } else {
      connection.#worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
      connection.#worker.onmessage = ({ data }) => connection.#receive(data);
      connection.#worker.onerror = fail;
      connection.#lent = lendThreads(failThread);
    }
    return connection;
  }

  /** Loads the library in the worker. Resolves to the number of threads. */
  load({ threads, onProgress }) {
    const { port: lent } = this.#lent;
    return this.request({ method: 'load', args: [{ threads, lent }] }, { transfer: [lent], onEvent: onProgress });
  }

  number() {
    return ++this.#requests;
  }

  /**
   * Sends a request and resolves to its answer. `onEvent` gets the events that come before it. `objects` are the
   * objects that the request names. The pending request refers to them, so that the garbage collector does not dispose
   * of them.
   */
  async request(message, { id = this.number(), transfer = [], signal, onEvent, objects } = {}) {
    signal?.throwIfAborted();
    if (this.#end) throw this.#end;
    this.#worker.postMessage({ ...message, id }, transfer);
    if (!this.#pending.size) {
      awaiting.add(this);
      this.#worker.ref?.();
    }
    const abort = () => this.post({ abort: id });
    signal?.addEventListener('abort', abort);
    try {
      return await new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject, onEvent, objects }));
    } catch (error) {
      throw error.kind === 'Aborted' ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Sends a message that has no answer. */
  post(message) {
    if (!this.#end) this.#worker.postMessage(message);
  }

  close() {
    this.#finish(new KaisekiError('Closed', '[worker] expected an open library, got a closed one: call load() again'));
  }

  #receive({ id, value, error, event, fatal }) {
    if (fatal) return this.#fail(fatal);
    const request = this.#pending.get(id);
    if (event) return request?.onEvent?.(event);
    if (!request) return;
    this.#pending.delete(id);
    if (!this.#pending.size) {
      awaiting.delete(this);
      this.#worker.unref?.();
    }
    if (error) request.reject(new KaisekiError(error.kind, error.message));
    else request.resolve(value);
  }

  #fail(message = 'its script cannot be loaded, or was stopped') {
    const error = new KaisekiError(
      'Closed',
      `[worker] expected a running worker, got its end (${message}): call load() again`,
    );
    this.#finish(error, error);
  }

  #finish(end, reason) {
    if (this.#end) return;
    this.#end = end;
    this.#worker.terminate();
    this.#lent.end();
    for (const { reject } of this.#pending.values()) reject(end);
    this.#pending.clear();
    awaiting.delete(this);
    this.#resolveClosed(reason);
  }
}
