// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { load } from 'kaiseki/sync';
import { hashes } from './same.js';

const models = new URL('../../models/', import.meta.url);
const lenet = readFileSync(new URL('lenet-dag.json', models), 'utf8');

const kaiseki = await load({ threads: 2 });

describe('networks', () => {
  test('LeNet learns the digits without leaks', () => {
    const before = kaiseki.memory().handles;
    kaiseki.tidy(() => {
      const network = kaiseki.network(lenet);
      const optimizer = kaiseki.optimizer('momentum', { learningRate: 0.02 });
      const train = kaiseki.digits({ count: 2000 }),
        test = kaiseki.digits({ count: 500, train: false });
      for (let epoch = 0; epoch < 2; ++epoch)
        for (let start = 0; start + 50 <= 2000; start += 50)
          kaiseki.tidy(() => {
            const { loss } = network.trainStep(
              optimizer,
              train.images.slice(0, start, 50),
              train.labels.slice(0, start, 50),
            );
            assert.ok(Number.isFinite(loss));
          });
      const { loss, accuracy, confusion } = network.evaluate(test);
      console.log(`LeNet after 2 epochs of 2000 digits: loss ${loss.toFixed(3)}, accuracy ${accuracy}`);
      assert.ok(accuracy > 0.9, `accuracy ${accuracy}`);
      const probabilities = network.predict(test.images);
      assert.deepEqual(probabilities.shape, [test.labels.size, 10]);
      const values = probabilities.toTypedArray(),
        expected = new Int32Array(100);
      test.labels.toTypedArray().forEach((label, i) => {
        const row = values.subarray(10 * i, 10 * i + 10);
        ++expected[10 * label + row.indexOf(Math.max(...row))];
      });
      assert.deepEqual(confusion, expected);
      assert.ok(Math.abs(probabilities.sum().item() - test.labels.size) < 0.01);
    });
    assert.equal(kaiseki.memory().handles, before);
  });

  test('has no confusion matrix above 1000 classes', () =>
    kaiseki.tidy(() => {
      const data = kaiseki.digits({ count: 100 });
      for (const [classes, length] of [
        [1000, 1000 ** 2],
        [1001, 0],
        [200000, 0],
      ]) {
        const network = kaiseki.network({
          inputs: { x: { shape: [1, 28, 28] } },
          layers: [
            { type: 'global_pooling' },
            { type: 'fully_connected', output_size: classes },
            { type: 'softmax_cross_entropy' },
          ],
        });
        const { loss, accuracy, confusion } = network.evaluate(data);
        assert.equal(confusion.length, length);
        assert.ok(loss > 0 && accuracy >= 0 && accuracy <= 1);
        network.dispose();
      }
    }));

  test('saves and loads weights in every format', () => {
    for (const format of ['safetensors', 'json', 'tar']) {
      const from = kaiseki.network(lenet),
        to = kaiseki.network(lenet);
      from.initialize(1);
      to.initialize(2);
      const { images } = kaiseki.digits({ count: 8 });
      const expected = from.predict(images).toTypedArray();
      assert.notDeepEqual(to.predict(images).toTypedArray(), expected);
      assert.match(to.loadWeights(from.saveWeights(format)), /^8 tensors loaded/);
      assert.deepEqual(to.predict(images).toTypedArray(), expected, format);
    }
  });

  test('hasWeights is set by the file, initialize() or loadWeights()', () => {
    const sukiyaki = { layer_params: [{ type: 'fc', params: { input_size: 1, output_size: 2 } }] };
    const status = [{ w: Buffer.from(Float32Array.of(0.5, -1).buffer).toString('base64') }];
    const plain = kaiseki.network(sukiyaki),
      full = kaiseki.network({ ...sukiyaki, layer_status: status }),
      loaded = kaiseki.network(sukiyaki);
    assert.deepEqual([plain.hasWeights, full.hasWeights], [false, true]);
    assert.deepEqual(Array.from(full.parameters[0].value.toTypedArray()), [0.5, -1]);
    plain.initialize(1);
    assert.throws(() => loaded.loadWeights(new Uint8Array(9)), { kind: 'ParseError' });
    assert.equal(loaded.hasWeights, false);
    loaded.loadWeights(full.saveWeights());
    assert.deepEqual([plain.hasWeights, loaded.hasWeights], [true, true]);
  });

  test('optimizers follow their rules for two steps, with every option', () =>
    kaiseki.tidy(() => {
      const json = {
        inputs: { x: { shape: [2] } },
        layers: [{ type: 'fully_connected', output_size: 1 }, { type: 'mean_squared_error' }],
      };
      const x = kaiseki.tensor([1, 2], [1, 2]),
        target = kaiseki.tensor([3], [1, 1]),
        rate = 0.125,
        begin = [0.5, -1, 0.25];
      const values = (network) => network.parameters.flatMap(({ value }) => Array.from(value.toTypedArray()));
      const made = (at) => {
        const network = kaiseki.network(json),
          [weight, bias] = network.parameters;
        weight.value.set(at.slice(0, 2));
        bias.value.set(at.slice(2));
        return network;
      };
      const gradient = (at) => {
        const network = made(at),
          before = values(network);
        network.trainStep(kaiseki.optimizer('sgd'), x, target, 1);
        return values(network).map((value, i) => before[i] - value);
      };
      // Each rule's update, from its options, the gradient g, its state s and the step's number t.
      const adam = ({ beta1, beta2, epsilon }, g, s, t) => {
        s.u = beta1 * (s.u ?? 0) + (1 - beta1) * g;
        s.q = beta2 * (s.q ?? 0) + (1 - beta2) * g * g;
        return (rate * s.u) / (1 - beta1 ** t) / (Math.sqrt(s.q / (1 - beta2 ** t)) + epsilon);
      };
      const rules = {
        sgd: (o, g) => rate * g,
        momentum: ({ momentum }, g, s) => rate * (s.v = momentum * (s.v ?? 0) + g),
        nesterov: ({ momentum }, g, s) => rate * (g + momentum * (s.v = momentum * (s.v ?? 0) + g)),
        adagrad: ({ epsilon, initialSquareSum = 0 }, g, s) =>
          (rate * g) / (Math.sqrt((s.q = (s.q ?? initialSquareSum) + g * g)) + epsilon),
        rmsprop: ({ alpha, epsilon }, g, s) =>
          (rate * g) / (Math.sqrt((s.q = alpha * (s.q ?? 0) + (1 - alpha) * g * g)) + epsilon),
        adam,
        adamw: adam,
      };
      for (const [name, options] of [
        ['sgd', { weightDecay: 0.5 }],
        ['momentum', { momentum: 0.4 }],
        ['momentum', { momentum: 0.4, clipNorm: 0.3 }],
        ['nesterov', { momentum: 0.6 }],
        ['adagrad', { epsilon: 0.2 }],
        ['adagrad', { epsilon: 0.2, initialSquareSum: 0.3 }],
        ['rmsprop', { alpha: 0.7, epsilon: 0.1 }],
        ['adam', { beta1: 0.5, beta2: 0.8, epsilon: 0.3 }],
        ['adamw', { beta1: 0.6, beta2: 0.7, epsilon: 0.2, weightDecay: 0.25 }],
      ]) {
        const network = made(begin),
          optimizer = kaiseki.optimizer(name, { learningRate: rate, ...options }),
          memory = begin.map(() => ({}));
        const { weightDecay = 0, clipNorm = Infinity } = options;
        let expected = begin;
        for (let step = 1; step <= 2; ++step) {
          network.trainStep(optimizer, x, target);
          const g = gradient(expected),
            clip = Math.min(1, clipNorm / Math.hypot(...g));
          expected = expected.map((value, i) => {
            const decay = i < 2 ? weightDecay : 0; // not of the bias
            if (name === 'adamw') return (1 - rate * decay) * value - rules.adamw(options, g[i], memory[i], step);
            return value - rules[name](options, clip * g[i] + decay * value, memory[i], step);
          });
        }
        values(network).forEach((value, i) =>
          assert.ok(Math.abs(value - expected[i]) < 1e-5, `${name}: ${values(network)}, not ${expected}`),
        );
      }
    }));

  test('two networks that exchange gradients make the step of one on both halves of the batch', () =>
    kaiseki.tidy(() => {
      const { images, labels } = kaiseki.digits({ count: 20, seed: 2 }),
        [one, two, whole] = [0, 1, 2].map(() => kaiseki.network(lenet)),
        optimizer = () => kaiseki.optimizer('sgd', { learningRate: 0.02 });
      const half = (network, start) => network.backward(images.slice(0, start, 10), labels.slice(0, start, 10));
      const losses = [half(one, 0), half(two, 10)].map(({ loss }) => loss),
        { loss } = whole.trainStep(optimizer(), images, labels);
      assert.ok(Math.abs(loss - (losses[0] + losses[1]) / 2) < 1e-5, `${losses} and ${loss}`);
      const [first, second] = [one.gatherTar(), two.gatherTar()];
      assert.throws(() => one.addTar(second.subarray(0, second.length / 2)), { kind: 'ParseError' });
      assert.deepEqual(one.gatherTar(), first);
      one.addTar(second);
      two.addTar(first);
      // The sum of two means is twice the mean of the whole batch.
      for (const network of [one, two]) network.step(optimizer(), 0.01);
      assert.deepEqual(one.saveWeights(), two.saveWeights());
      one.parameters.forEach(({ name, value }, i) => {
        const differences = value.sub(whole.parameters[i].value).toTypedArray();
        assert.ok(
          differences.every((difference) => Math.abs(difference) < 1e-6),
          name,
        );
      });
      const momentum = kaiseki.optimizer('momentum');
      whole.trainStep(momentum, images, labels);
      for (const call of [() => whole.step(momentum), () => whole.gatherTar(), () => whole.addTar(first)])
        assert.throws(call, /expected gradients of backward\(\), got those of trainStep\(\)/);
    }));

  test('tidy() keeps a network that it returns', () => {
    const network = kaiseki.tidy(() => kaiseki.network(lenet));
    assert.ok(!network.disposed);
    network.dispose();
  });

  test('training with momentum needs one more tensor a parameter', () => {
    const bytes = 4 * 2000 * 2000,
      { inUse } = kaiseki.memory();
    kaiseki.tidy(() => {
      const network = kaiseki.network({
        inputs: { x: { shape: [2000] } },
        layers: [{ type: 'fully_connected', output_size: 2000 }, { type: 'mean_squared_error' }],
      });
      const optimizer = kaiseki.optimizer('momentum'),
        x = kaiseki.uniform([1, 2000]);
      for (let step = 0; step < 2; ++step) network.trainStep(optimizer, x, x);
      const more = kaiseki.memory().inUse - inUse;
      assert.ok(more >= 2 * bytes && more < 2.5 * bytes, `${more} bytes for ${bytes} of weights`);
    });
  });

  test('saves weights without a second copy in the module', async () => {
    const here = await load({ threads: 1 }),
      bytes = 4 * 4000 * 4000;
    const network = here.network({
      inputs: { x: { shape: [4000] } },
      layers: [{ type: 'fully_connected', output_size: 4000 }],
    });
    const { heap } = here.memory();
    assert.ok(network.saveWeights().length > bytes);
    const more = here.memory().heap - heap;
    assert.ok(more < 1.6 * bytes, `${more} bytes for ${bytes} of weights`);
    here.close();
  });

  test('reads a network with weights from ONNX', () => {
    const onnx = new URL('../../onnx/preactivated_13', import.meta.url);
    const values = (what) => new Float32Array(new Uint8Array(readFileSync(`${onnx.pathname}.${what}.npy`)).buffer, 128);
    const file = new Uint8Array(readFileSync(`${onnx.pathname}.onnx`));
    const network = kaiseki.network(file),
      other = kaiseki.network(network.json);
    other.initialize(1);
    other.loadWeights(file);
    for (const found of [network, other]) {
      const y = found.predict(kaiseki.tensor(values('x'), [2, 3, 11, 11])).toTypedArray();
      // PyTorch's results in float64. Sums of up to 150 terms in ten layers are each rounded to 6e-8.
      values('y').forEach((wanted, i) =>
        assert.ok(Math.abs(y[i] - wanted) <= 1e-5 * (1 + Math.abs(wanted)), `${y} at ${i}`),
      );
    }
  });

  test('describes the layers, and activations match a direct computation', () => {
    const network = kaiseki.network(lenet),
      { layers, inputShape, outputShape } = network.summary;
    assert.deepEqual([inputShape, outputShape], [[1, 28, 28], [10]]);
    assert.deepEqual(layers[0], {
      name: 'conv1',
      type: 'convolution',
      shape: [20, 24, 24],
      parameters: 520,
      multiplyAdds: 288000,
      operations: 288784,
    });
    assert.equal(layers[1].operations, 20 * (20 * 12 * 12 * 4) + 20 * 24 * 24);
    kaiseki.tidy(() => {
      const { images } = kaiseki.digits({ count: 3 });
      const [pooled, convolved, last] = network.activations(images, ['pool1', 'conv1', 'fc4']);
      const [filter, bias] = network.parameters.map(({ value }) => value);
      const expected = kaiseki.conv2d(kaiseki.normalize(images), filter, { bias });
      const near = (a, b) => {
        const wanted = b.toTypedArray();
        assert.deepEqual(a.shape, b.shape);
        a.toTypedArray().forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) < 1e-5));
      };
      near(convolved, expected);
      near(pooled, kaiseki.maxPool2d(expected));
      near(last.softmax(), network.predict(images));
      filter.set(new Float32Array(filter.size));
      near(network.activations(images, ['conv1'])[0], bias.reshape([20, 1, 1]).broadcastTo([3, 20, 24, 24]));
    });
    assert.throws(
      () => network.activations(kaiseki.digits({ count: 1 }).images, ['conv9']),
      /expected the name of a layer, got conv9/,
    );
  });

  test("parameters share the network's storage", () => {
    const network = kaiseki.network(lenet);
    const { name, value } = network.parameters.find((parameter) => parameter.name === 'fc4.bias');
    value.set(new Float32Array(10).fill(7));
    assert.equal(name, 'fc4.bias');
    assert.equal(network.parameters.at(-1).value.max().item(), 7);
  });

  test('reports errors in networks and weights files', () => {
    assert.throws(() => kaiseki.network('{"layers": [{"type": "nonsense"}]}'), { kind: 'ParseError' });
    assert.throws(() => kaiseki.network('{'), { kind: 'ParseError' });
    const network = kaiseki.network(lenet);
    assert.throws(() => network.loadWeights(new Uint8Array([1, 2, 3])), { kind: 'ParseError' });
    const bytes = network.saveWeights();
    assert.throws(() => network.loadWeights(bytes.subarray(0, bytes.length - 1)), { kind: 'ParseError' });
    assert.throws(() => kaiseki.optimizer('nonsense'), /nonsense/);
    assert.throws(() => network.loadWeights(new Uint8Array([0x1f, 0x8b, 8, 0])), /gzip/);
  });

  test('computes the same bits with 1, 2 and 4 threads', async () => {
    const expected = await hashes(kaiseki, lenet);
    console.log(expected);
    for (const threads of [1, 4]) {
      const other = await load({ threads });
      assert.deepEqual(await hashes(other, lenet), expected, `${threads} threads`);
      other.close();
    }
  });
});
