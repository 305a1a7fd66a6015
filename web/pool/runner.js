// SPDX-License-Identifier: MIT
// Runner: computes one ticket at a time in a worker, and ends the worker at the time limit. A worker runs the code of
// only one module, so tasks do not see each other's state. A worker that posts `spent` with its answer is not used
// again.

const idleSeconds = 30; // how long a worker waits for the next ticket

/**
 * `makeWorker(job)` returns {post(message), onMessage, onError, end()}, for web workers and for Node's workers. If a
 * worker posts {want: hashes}, it gets {fetched: [bytes...]} or {failed: message} from fetchBlob(hash). The time for
 * this does not count. A worker that posts {stopFlag} reads it during its work, and stops when it is 1.
 */
export class Runner {
  constructor(makeWorker, seconds, fetchBlob) {
    Object.assign(this, { makeWorker, seconds, fetchBlob });
  }

  /** A job is a task's {module, code, input, blobs, memory} or a function's {function, input, blobs, memory}. */
  run({ code, ...job }) {
    clearTimeout(this.idle);
    const fits = !job.module || this.worker?.memory === job.memory; // a trainer checks the memory of each ticket
    const isLoaded = this.worker && this.worker.module === job.module && fits;
    if (!isLoaded) {
      this.stopWorker();
      this.worker = this.makeWorker(job);
      this.worker.module = job.module;
      this.worker.memory = job.memory;
    }
    return new Promise((resolve, reject) => {
      const { worker } = this;
      let timer,
        begun,
        left = 1000 * this.seconds,
        over = false;
      const count = () => {
        if (over) return;
        begun = performance.now();
        timer = setTimeout(() => fail(`took more than ${this.seconds} s`), left);
      };
      const pause = () => {
        clearTimeout(timer);
        left -= performance.now() - begun;
      };
      const settle = (call, value) => {
        clearTimeout(timer);
        over = true;
        this.abandon = undefined;
        if (this.worker) this.idle = setTimeout(() => this.stopWorker(), 1000 * idleSeconds);
        this.idle?.unref?.(); // Node only
        call(value);
      };
      const fail = (text) => {
        this.stopWorker();
        settle(reject, new Error(text));
      };
      count();
      this.abandon = () => fail('stopped');
      worker.onMessage = ({ result, error, want, spent, stopFlag }) => {
        if (stopFlag) {
          if (job.function) worker.stopFlag = stopFlag; // a task's module has none
          return;
        }
        if (want) {
          pause(); // the download does not count
          return this.fetch(worker, want).then(count);
        }
        if (error !== undefined) {
          if (!worker.loaded || spent) this.stopWorker(); // the worker may lack the module's code: the next worker gets it again
          return settle(reject, new Error(error));
        }
        worker.loaded = true;
        if (spent) this.stopWorker();
        settle(resolve, result);
      };
      worker.onError = (error) => fail(error?.message ?? 'the worker ended');
      worker.post({ ...job, code: isLoaded ? undefined : code });
    });
  }

  async fetch(worker, hashes) {
    try {
      worker.post({ fetched: await Promise.all(hashes.map((hash) => this.fetchBlob(hash))) });
    } catch (error) {
      worker.post({ failed: error.message });
    }
  }

  stopWorker() {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = undefined;
    if (!worker) return;
    worker.onMessage = worker.onError = () => {};
    // A browser ends a worker only after 2 s if an operation still runs in it.
    if (worker.stopFlag) Atomics.compareExchange(worker.stopFlag, 0, 0, 1); // 2: a thread has failed
    worker.stopFlag = undefined; // it holds the memory of the worker
    worker.end();
  }

  stop() {
    if (this.abandon) this.abandon();
    else this.stopWorker();
  }
}
