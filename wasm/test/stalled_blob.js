// SPDX-License-Identifier: MIT
// The package's worker, in which reading a Blob stalls after the first byte. It tells when the reading is cancelled.
import { parentPort } from 'node:worker_threads';

Blob.prototype.stream = () =>
  new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel: () => parentPort.postMessage('cancelled'),
  });
await import('../../node_modules/kaiseki/src/worker.js');
