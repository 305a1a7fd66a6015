// SPDX-License-Identifier: MIT
// Results that must be equal to the last bit on every platform and with every number of threads.

async function hash(bytes) {
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Trains some steps on the built-in digits and returns the weights. */
function train(kaiseki, json, steps) {
  return kaiseki.tidy(() => {
    const network = kaiseki.network(json);
    const optimizer = kaiseki.optimizer('momentum', { learningRate: 0.01 });
    network.initialize(3);
    const { images, labels } = kaiseki.digits({ count: 32 * steps, seed: 5 });
    for (let i = 0; i < steps; ++i)
      network.trainStep(optimizer, images.slice(0, 32 * i, 32), labels.slice(0, 32 * i, 32));
    return { bytes: network.saveWeights() };
  }).bytes;
}

/** Returns hashes by name. `json` is a network for the digits. */
export async function hashes(kaiseki, json) {
  const uniform = (...args) => kaiseki.uniform(...args),
    normal = (...args) => kaiseki.normal(...args);
  const results = {
    product: kaiseki.tidy(() => ({
      values: uniform([211, 307])
        .matmul(normal([307, 193], { seed: 1 }))
        .toTypedArray(),
    })),
    convolution: kaiseki.tidy(() => ({
      values: kaiseki
        .conv2d(normal([3, 17, 31, 29]), uniform([23, 17, 3, 3], { seed: 2 }), { padding: 1 })
        .toTypedArray(),
    })),
    sum: kaiseki.tidy(() => ({ values: uniform([1000003], { low: -1 }).sum().toTypedArray() })),
    softmax: kaiseki.tidy(() => ({ values: normal([101, 1009]).softmax().toTypedArray() })),
    training: { values: train(kaiseki, json, 20) },
  };
  const named = {};
  for (const [name, { values }] of Object.entries(results)) named[name] = await hash(values);
  return named;
}

/** Returns the hash of weights that were trained in the worker. */
export async function trainedInWorker(kaiseki, json) {
  return kaiseki.tidy(async (scope) => {
    const network = await scope.network(json),
      optimizer = await scope.optimizer('adam');
    await scope.train(network, optimizer, await scope.digits({ count: 200, seed: 5 }), {
      batchSize: 40,
      epochs: 1,
      seed: 2,
    }).finished;
    return hash(await network.saveWeights());
  });
}
