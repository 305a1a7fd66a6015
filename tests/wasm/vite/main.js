// SPDX-License-Identifier: MIT
// A page of a blank project. It shows the number of threads, a trained network's accuracy, clusters, and a sum.
import { load } from 'kaiseki';
import { load as loadArrays } from 'kaiseki/arrays';
import { load as loadLearn } from 'kaiseki/learn';

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
const learn = await loadLearn();
const clusters = learn.model('KMeans', { n_clusters: 2 }).fit([0, 1, 8, 9], [4, 1]).apply('predict', [0, 9], [2, 1]);
document.querySelector('output').textContent = JSON.stringify({
  threads: kaiseki.threads,
  accuracy,
  clusters: new Set(clusters).size,
  sum: (await loadArrays()).arange(10).sum().item(),
});
