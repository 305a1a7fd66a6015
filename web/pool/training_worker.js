// SPDX-License-Identifier: MIT
// Runs in a worker of a page, which first says how many threads there are and lends them: training with the npm package.
// Apart from the workers of tasks, whose code others wrote.

import {Training} from './training.js';

self.onmessage = ({data: options}) => {
  const training = new Training(() => import('kaiseki/sync'), options);
  self.onmessage = ({data}) => training.receive(data, (answer) => self.postMessage(answer));
};
