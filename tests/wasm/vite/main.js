// SPDX-License-Identifier: MIT
// A page of a blank project. It shows the number of threads and a trained network's accuracy.
import { load } from 'kaiseki';

const kaiseki = await load({ threads: 2 });
const network = await kaiseki.network({
  inputs: { image: { shape: [1, 28, 28] } },
  layers: [{ type: 'fully_connected', output_size: 10 }, { type: 'softmax_cross_entropy' }],
});
const data = await kaiseki.digits({ count: 500 });
await kaiseki.train(network, await kaiseki.optimizer('adam', { learningRate: 0.01 }), data, {
  batchSize: 50,
  epochs: 5,
}).finished;
const { accuracy } = await network.evaluate(data);
document.querySelector('output').textContent = JSON.stringify({ threads: kaiseki.threads, accuracy });
