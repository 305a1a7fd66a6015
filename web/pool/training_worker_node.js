// SPDX-License-Identifier: MIT
// Runs in a worker thread of Node: training with the npm package, whose entry kaiseki/sync has this address. Apart from the
// workers of tasks, whose code others wrote.

import {parentPort, workerData} from 'node:worker_threads';
import {Training} from './training.js';

const training = new Training(() => import(workerData.address), {threads: workerData.threads});
parentPort.on('message', (message) => training.receive(message, (answer) => parentPort.postMessage(answer)));
