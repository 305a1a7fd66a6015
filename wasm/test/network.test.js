// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { load } from 'kaiseki';
import { hashes } from './same.js';

const models = new URL('../../models/', import.meta.url);
const lenet = readFileSync(new URL('lenet-dag.json', models), 'utf8');

const kaiseki = await load({ threads: 2 });

describe('networks', () => {
  test('LeNet learns the digits, and nothing leaks', () => {
    const before = kaiseki.memory().handles;
    kaiseki.tidy(() => {
      const network = kaiseki.network(lenet);
      const optimizer = kaiseki.optimizer('momentum', { learningRate: 0.02 });
      const train = kaiseki.digits({ count: 2000 }), test = kaiseki.digits({ count: 500, train: false });
      for (let epoch = 0; epoch < 2; ++epoch)
        for (let start = 0; start + 50 <= 2000; start += 50)
          kaiseki.tidy(() => {
            const { loss } = network.trainStep(optimizer, train.images.slice(0, start, 50), train.labels.slice(0, start, 50));
            assert.ok(Number.isFinite(loss));
          });
      const { loss, accuracy } = network.evaluate(test.images, test.labels);
      console.log(`LeNet after 2 epochs of 2000 digits: loss ${loss.toFixed(3)}, accuracy ${accuracy}`);
      assert.ok(accuracy > 0.9, `accuracy ${accuracy}`);
      const probabilities = network.predict(test.images);
      assert.deepEqual(probabilities.shape, [test.labels.size, 10]);
      assert.ok(Math.abs(probabilities.sum().item() - test.labels.size) < 0.01);
    });
    assert.equal(kaiseki.memory().handles, before);
  });

  test('weights go out and in, in every format', () => {
    for (const format of ['safetensors', 'json', 'tar']) {
      const from = kaiseki.network(lenet), to = kaiseki.network(lenet);
      from.initialize(1);
      to.initialize(2);
      const { images } = kaiseki.digits({ count: 8 });
      const expected = from.predict(images).toTypedArray();
      assert.notDeepEqual(to.predict(images).toTypedArray(), expected);
      assert.match(to.loadWeights(from.saveWeights(format)), /^8 tensors loaded/);
      assert.deepEqual(to.predict(images).toTypedArray(), expected, format);
    }
  });

  test('a network comes from ONNX, with its weights', () => {
    const onnx = new URL('../../onnx/preactivated_13', import.meta.url);
    const values = (what) => new Float32Array(new Uint8Array(readFileSync(`${onnx.pathname}.${what}.npy`)).buffer, 128);
    const file = new Uint8Array(readFileSync(`${onnx.pathname}.onnx`));
    const network = kaiseki.network(file), other = kaiseki.network(network.json);
    other.initialize(1);
    other.loadWeights(file);
    for (const found of [network, other]) {
      const y = found.predict(kaiseki.tensor(values('x'), [2, 3, 11, 11])).toTypedArray();
      // PyTorch's results in float64; ten layers' sums of up to 150 terms are rounded to 6e-8 each.
      values('y').forEach((wanted, i) => assert.ok(Math.abs(y[i] - wanted) <= 1e-5 * (1 + Math.abs(wanted)), `${y} at ${i}`));
    }
  });

  test('parameters share the network\'s storage', () => {
    const network = kaiseki.network(lenet);
    const { name, value } = network.parameters.find((parameter) => parameter.name === 'fc4.bias');
    value.set(new Float32Array(10).fill(7));
    assert.equal(name, 'fc4.bias');
    assert.equal(network.parameters.at(-1).value.max().item(), 7);
  });

  test('what is wrong with a network or a file of weights is said', () => {
    assert.throws(() => kaiseki.network('{"layers": [{"type": "nonsense"}]}'), { kind: 'ParseError' });
    assert.throws(() => kaiseki.network('{'), { kind: 'ParseError' });
    const network = kaiseki.network(lenet);
    assert.throws(() => network.loadWeights(new Uint8Array([1, 2, 3])), { kind: 'ParseError' });
    const bytes = network.saveWeights();
    assert.throws(() => network.loadWeights(bytes.subarray(0, bytes.length - 1)), { kind: 'ParseError' });
    assert.throws(() => kaiseki.optimizer('nonsense'), /nonsense/);
    assert.throws(() => network.loadWeights(new Uint8Array([0x1f, 0x8b, 8, 0])), /gzip/);
  });

  test('everything has the same bits with 1, 2 and 4 threads', async () => {
    const expected = await hashes(kaiseki, lenet);
    console.log(expected);
    for (const threads of [1, 4]) {
      const other = await load({ threads });
      assert.deepEqual(await hashes(other, lenet), expected, `${threads} threads`);
      other.close();
    }
  });
});
