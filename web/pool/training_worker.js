// SPDX-License-Identifier: MIT
// Runs in a worker of a page, whose name is the number of threads: training with the npm package. Apart from the workers of
// tasks, whose code others wrote.

import {Training} from './training.js';

const training = new Training(() => import('kaiseki/sync'), {threads: Number(self.name)});
self.onmessage = ({data}) => training.receive(data, (answer) => self.postMessage(answer));
