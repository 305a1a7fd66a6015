// SPDX-License-Identifier: MIT
// The messages and the memory of the page's worker, which the page does not show.
import { eventually } from './page.js';

/** Called before the page opens. Records its worker, and the times of requests and of the first step. */
export const watch = (context) =>
  context.addInitScript(() => {
    const times = (globalThis.kaisekiTimes = {});
    globalThis.Worker = class extends Worker {
      constructor(...args) {
        super(...args);
        if (/kaiseki-threads/.test(args[0])) return; // a thread of the worker
        globalThis.kaisekiWorker = this;
        times.worker = performance.now();
        const asked = new Map();
        const post = this.postMessage.bind(this);
        this.postMessage = (message, ...more) => {
          asked.set(message.id, message.method);
          post(message, ...more);
        };
        this.addEventListener('message', ({ data }) => {
          times[data.event ? 'step' : asked.get(data.id)] ??= performance.now();
          if (!data.event) asked.delete(data.id);
        });
      }
    };
  });

/** The library's live handles, the bytes of its tensors, and the heap. */
export const memory = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const worker = globalThis.kaisekiWorker,
          id = `memory ${Math.random()}`;
        const answered = ({ data }) => {
          if (data.id !== id) return;
          worker.removeEventListener('message', answered);
          resolve(data.value);
        };
        worker.addEventListener('message', answered);
        worker.postMessage({ id, method: 'memory', args: [] });
      }),
  );

/** The memory when no request is pending. */
export async function quiet(page) {
  let last,
    same = 0;
  return eventually('quiet', async () => {
    const found = await memory(page),
      text = JSON.stringify(found);
    same = text === last ? same + 1 : 0;
    last = text;
    return same === 10 && found;
  });
}
