// SPDX-License-Identifier: MIT
// Training with the npm package, in a worker of a page. The first message has the options and lends threads.
// Tasks run in other workers, because their code is not trusted.

import { Training } from './training.js';

self.onmessage = ({ data: options }) => {
  const training = new Training(() => import('kaiseki/sync'), options);
  self.onmessage = ({ data }) => training.receive(data, (answer) => self.postMessage(answer));
};
