// SPDX-License-Identifier: MIT
// The worker in which the library runs, as those see it who call: requests by number, and their answers.
import { builtin, node } from './environment.js';
import { KaisekiError } from './error.js';
import { lendThreads } from './threads.js';

/** Connections that owe an answer: who waits for it may refer to nothing else, and Firefox would collect both. */
const owing = new Set();

export class Connection {
  #worker;
  #lent;
  #pending = new Map();
  #requests = 0;
  #end;
  #ended;

  /** Resolves when the worker has ended, with the error unless it was close(). */
  closed = new Promise((resolve) => { this.#ended = resolve; });

  static async open() {
    const connection = new Connection(), fail = (error) => connection.#die(error?.message);
    if (node) {
      const { Worker: Thread } = await builtin('worker_threads'), here = import.meta.url;
      // Without the flags of this process: --input-type is not for files.
      connection.#worker = new Thread(new URL('./worker.js', here), { execArgv: [] });
      connection.#worker.on('message', (message) => connection.#receive(message));
      connection.#worker.on('error', fail);
      connection.#worker.on('exit', () => fail());
      connection.#worker.unref();
    } else {
      connection.#worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
      connection.#worker.onmessage = ({ data }) => connection.#receive(data);
      connection.#worker.onerror = fail;
      connection.#lent = lendThreads();
    }
    return connection;
  }

  /** Loads the library in the worker; the number of its threads. */
  load({ threads }) {
    const lent = this.#lent?.port;
    return this.request({ method: 'load', args: [{ threads, lent }] }, { transfer: lent ? [lent] : [] });
  }

  number() {
    return ++this.#requests;
  }

  /**
   * The answer to a request. `onEvent` gets what the worker says before it. `objects` are those that it names: until the
   * answer is here the garbage collector must not find, and dispose of, what nobody else remembers.
   */
  async request(message, { id = this.number(), transfer = [], signal, onEvent, objects } = {}) {
    signal?.throwIfAborted();
    if (this.#end) throw this.#end;
    this.#worker.postMessage({ ...message, id }, transfer);
    if (!this.#pending.size) {
      owing.add(this);
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

  /** A message that has no answer. */
  post(message) {
    if (!this.#end) this.#worker.postMessage(message);
  }

  close() {
    this.#finish(new KaisekiError('Closed', '[worker] expected a library that is open, got one after close(): load() another'));
  }

  #receive({ id, value, error, event, fatal }) {
    if (fatal) return this.#die(fatal);
    const request = this.#pending.get(id);
    if (event) return request?.onEvent?.(event);
    if (!request) return;
    this.#pending.delete(id);
    if (!this.#pending.size) {
      owing.delete(this);
      this.#worker.unref?.();
    }
    if (error) request.reject(new KaisekiError(error.kind, error.message));
    else request.resolve(value);
  }

  #die(message = 'its script cannot be loaded, or was stopped') {
    const error = new KaisekiError('Closed', `[worker] expected the worker to run, got its end (${message}): load() another`);
    this.#finish(error, error);
  }

  #finish(end, reason) {
    if (this.#end) return;
    this.#end = end;
    this.#worker.terminate();
    this.#lent?.end();
    for (const { reject } of this.#pending.values()) reject(end);
    this.#pending.clear();
    owing.delete(this);
    this.#ended(reason);
  }
}
