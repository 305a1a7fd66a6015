// SPDX-License-Identifier: MIT
// Training with the npm package, in a worker thread of Node. workerData has the address of kaiseki/sync and the options.
// Tasks run in other workers, because their code is not trusted.

import { parentPort, workerData } from 'node:worker_threads';
import { Training } from './training.js';

const training = new Training(() => import(workerData.address), workerData);
parentPort.on('message', (message) => training.receive(message, (answer) => parentPort.postMessage(answer)));
