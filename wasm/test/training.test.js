// SPDX-License-Identifier: MIT
// Training in the worker: results, progress, changes during training, its end, and leaks.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { load } from 'kaiseki';
import { load as loadHere } from 'kaiseki/sync';

const lenet = readFileSync(new URL('../../models/lenet-dag.json', import.meta.url), 'utf8');
const small = {
  inputs: { x: { shape: [1, 28, 28] } },
  layers: [{ type: 'fully_connected', output_size: 10 }, { type: 'softmax_cross_entropy' }],
};

const kaiseki = await load({ threads: 2 });
after(() => kaiseki.close());
const digits = await kaiseki.digits({ count: 600 });

async function prepared(json, options) {
  return [await kaiseki.network(json), await kaiseki.optimizer('momentum', options), digits];
}

describe('training', () => {
  test('LeNet learns the digits and reports progress after every step', async () => {
    const [network, optimizer] = await prepared(lenet, { learningRate: 0.02 }),
      steps = [];
    const data = await kaiseki.digits({ count: 2000 }),
      unseen = await kaiseki.digits({ count: 500, train: false });
    const { finished } = kaiseki.train(network, optimizer, data, {
      batchSize: 60,
      epochs: 2,
      onStep: (step) => steps.push(step),
    });
    const last = await finished;
    assert.equal(steps.length, 2 * 34);
    assert.deepEqual(
      steps.map(({ step }) => step),
      steps.map((_, i) => i + 1),
    );
    assert.deepEqual([steps[32].epoch, steps[33].epoch, last.epoch], [0, 1, 2]);
    assert.deepEqual(last, steps.at(-1));
    for (const { loss, accuracy, imagesPerSecond } of steps)
      assert.ok(loss >= 0 && accuracy >= 0 && accuracy <= 1 && imagesPerSecond > 0);
    const { accuracy, confusion } = await network.evaluate(unseen, { batchSize: 77 });
    console.log(
      `LeNet after 2 epochs of 2000 digits in the worker: accuracy ${accuracy}, ${last.imagesPerSecond.toFixed()} images/s`,
    );
    assert.ok(accuracy > 0.9, `accuracy ${accuracy}`);
    assert.equal(
      confusion.reduce((sum, count) => sum + count),
      unseen.labels.size,
    );
    const right = Array.from({ length: 10 }, (_, i) => confusion[11 * i]).reduce((sum, count) => sum + count);
    assert.ok(Math.abs(right / unseen.labels.size - accuracy) < 1e-12);
  });

  for (const name of ['sgd', 'momentum', 'adam'])
    test(`continues with the saved state of ${name} as if it had not ended`, async () => {
      const steps = async (network, optimizer, options) =>
        kaiseki.train(network, optimizer, digits, { batchSize: 600, shuffle: false, learningRate: 0.01, ...options })
          .finished;
      const whole = await kaiseki.network(small),
        rule = await kaiseki.optimizer(name);
      await steps(whole, rule, { steps: 4 });
      const begun = await kaiseki.network(small),
        before = await kaiseki.optimizer(name);
      await steps(begun, before, { steps: 2 });
      const [weights, state] = [await begun.saveWeights(), await before.saveState(begun)];
      const again = await kaiseki.network(small),
        after = await kaiseki.optimizer(name);
      await again.loadWeights(weights);
      await after.loadState(again, state);
      await steps(again, after, { steps: 2 });
      assert.deepEqual(await again.saveWeights(), await whole.saveWeights());
      const other = await kaiseki.optimizer('rmsprop');
      await assert.rejects(other.loadState(again, state), /expected optimizer rmsprop/);
      if (name === 'sgd') return;
      const wider = await kaiseki.network({ ...small, inputs: { x: { shape: [1, 14, 14] } } });
      const fresh = await kaiseki.optimizer(name);
      await assert.rejects(fresh.loadState(wider, state), /the state is not that of this network/);
      await assert.rejects(after.loadState(again, state.slice(0, 50)), { kind: 'ParseError' });
    });

  test('computes the same weights as without a worker', async () => {
    const [network, optimizer] = await prepared(lenet),
      here = await loadHere({ threads: 1 });
    await kaiseki.train(network, optimizer, digits, { batchSize: 100, epochs: 1, learningRate: 0.03, shuffle: false })
      .finished;
    const other = here.network(lenet),
      { images, labels } = here.digits({ count: 600 }),
      rule = here.optimizer('momentum');
    for (let at = 0; at < 600; at += 100)
      other.trainStep(rule, images.slice(0, at, 100), labels.slice(0, at, 100), 0.03);
    assert.deepEqual(await network.saveWeights(), other.saveWeights());
    here.close();
  });

  test('trains on bytes as values in 0..1', async () => {
    const bytes = new Uint8Array(50 * 784).map((_, i) => (i * 37) % 256),
      classes = Int32Array.from({ length: 50 }, (_, i) => i % 10);
    const labels = await kaiseki.tensor(classes),
      files = [];
    for (const images of [
      await kaiseki.tensor(bytes, [50, 1, 28, 28]),
      await kaiseki.tensor(
        Float32Array.from(bytes, (byte) => byte / 255),
        [50, 1, 28, 28],
      ),
    ]) {
      const [network, optimizer] = await prepared(small);
      await kaiseki.train(network, optimizer, { images, labels }, { batchSize: 16, epochs: 2 }).finished;
      files.push([await network.saveWeights(), await network.evaluate({ images, labels })]);
    }
    assert.deepEqual(files[0], files[1]);
  });

  test('follows a schedule to its end, also in two parts and with a last smaller batch', async () => {
    const [network, optimizer] = await prepared(small);
    const schedule = { name: 'cosine', epochs: 3, warmup: 1, minimumRate: 0.01 };
    const rates = async (options, given) => {
      const found = [];
      const onStep = ({ learningRate }) => found.push(learningRate);
      const all = { batchSize: 70, learningRate: 0.1, schedule: { ...schedule, ...options }, onStep, ...given };
      const { samples } = await kaiseki.train(network, optimizer, digits, all).finished;
      return { found, samples };
    };
    const whole = await rates(); // 9 steps an epoch
    assert.deepEqual([whole.found.length, whole.samples], [27, 1800]);
    whole.found.forEach((rate, step) => {
      const epochs = Math.floor(step / 9) + ((step % 9) * 70) / 600,
        t = Math.max(0, (epochs - 1) / 2),
        end = step % 9 === 8 ? 1 : epochs + 70 / 600;
      const expected = (0.01 + 0.045 * (1 + Math.cos(Math.PI * t))) * (step < 9 ? end : 1);
      assert.ok(Math.abs(rate - expected) < 1e-12, `step ${step}: ${rate}, expected ${expected}`);
    });
    const first = await rates({}, { steps: 12 });
    const second = await rates({ done: first.samples / 600 });
    assert.ok(Math.abs(second.found[0] - whole.found[12]) < 1e-12);
    assert.equal(second.found.length, 15);
    for (const wrong of [{ epochs: 0 }, { name: 'cosin' }, { name: 'step' }])
      await assert.rejects(rates(wrong), /\[train\]/);
  });

  test('normalizes pictures in training and in tests', async () => {
    const { images, labels } = await kaiseki.digits({ count: 60 });
    const given = { images, labels, mean: [0.1], std: [0.3] };
    assert.equal(images.dtype, 'u8');
    const floats = Float32Array.from(await images.toTypedArray(), (byte) => byte / 255);
    const unit = await kaiseki.tensor(floats, images.shape);
    const made = { images: await (await unit.sub(0.1)).div(0.3), labels };
    const values = async (tensor) => Array.from(await tensor.toTypedArray());
    assert.deepEqual(await values(await kaiseki.normalize(images, given)), await values(made.images));
    assert.deepEqual(await values(await kaiseki.normalize(unit, given)), await values(made.images));
    assert.deepEqual(await values(await kaiseki.normalize(images)), await values(unit));
    const found = [];
    for (const data of [given, made]) {
      const [network, optimizer] = await prepared(small);
      await kaiseki.train(network, optimizer, data, { batchSize: 20, epochs: 2, learningRate: 0.01 }).finished;
      const { loss, accuracy } = await network.evaluate(data);
      found.push([await network.saveWeights(), loss, accuracy]);
    }
    assert.deepEqual(found[0], found[1]);
    const [network] = await prepared(small);
    await assert.rejects(network.evaluate({ images, labels, mean: [1, 2, 3] }), /one for each channel, got 3/);
    await assert.rejects(network.evaluate({ images, labels, std: [0] }), /each std above 0/);
  });

  test('augments pictures at random, with the seed alone, and learns', async () => {
    const train = async (options) => {
      const [network, optimizer] = await prepared(small);
      await kaiseki.train(network, optimizer, digits, { batchSize: 60, epochs: 2, learningRate: 0.05, ...options })
        .finished;
      return network;
    };
    const weights = async (options) => (await train(options)).saveWeights();
    const plain = await weights(),
      moved = await weights({ augment: 'flip,crop:2' });
    assert.notDeepEqual(moved, plain);
    assert.deepEqual(await weights({ augment: 'flip,crop:2' }), moved);
    assert.notDeepEqual(await weights({ augment: 'flip,crop:2', seed: 1 }), moved);
    const { accuracy } = await (await train({ augment: 'crop:1', epochs: 6 })).evaluate(digits);
    assert.ok(accuracy > 0.6, `accuracy ${accuracy}`);
    await assert.rejects(train({ augment: 'flop' }), /expected none, or flip, crop or crop:PADDING, got flop/);
  });

  test('uses every sample once an epoch, in an order that depends on the seed', async () => {
    const [network, optimizer] = await prepared(small),
      data = await kaiseki.tidy(async (scope) => {
        const { images, labels } = await scope.digits({ count: 50 });
        return { images: await images.clone(), labels: await labels.clone() };
      });
    const losses = async (options) => {
      const found = [];
      const onStep = ({ loss }) => found.push(loss);
      await kaiseki.train(network, optimizer, data, { batchSize: 1, learningRate: 0, ...options, onStep }).finished;
      return found;
    };
    const plain = await losses({ epochs: 1, shuffle: false }),
      mixed = await losses({ epochs: 2, seed: 3 });
    const sorted = (values) => [...values].sort((a, b) => a - b);
    for (const epoch of [mixed.slice(0, 50), mixed.slice(50)]) assert.deepEqual(sorted(epoch), sorted(plain));
    assert.notDeepEqual(mixed.slice(0, 50), plain);
    assert.notDeepEqual(mixed.slice(0, 50), mixed.slice(50));
    assert.deepEqual(await losses({ epochs: 2, seed: 3 }), mixed);
    assert.ok((await losses({ epochs: 3, seed: 2 ** 53 })).every(Number.isFinite));
    assert.notDeepEqual(await losses({ epochs: 2, seed: 4 }), mixed);
  });

  test('changes learning rate and batch size during training, and answers other calls', async () => {
    const [network, optimizer, data] = await prepared(small),
      steps = [];
    const stop = new AbortController();
    const training = kaiseki.train(network, optimizer, data, {
      batchSize: 10,
      learningRate: 0.5,
      signal: stop.signal,
      onStep: (step) => steps.push(step),
    });
    await network.predict(digits.images);
    await kaiseki.memory();
    assert.ok(steps.length >= 1);
    assert.deepEqual([steps.at(-1).learningRate, steps.at(-1).batchSize, training.learningRate], [0.5, 10, 0.5]);
    assert.throws(
      () => {
        training.learningRate = NaN;
      },
      { name: 'KaisekiError', message: '[train] expected a learning rate of 0 or more, got NaN' },
    );
    training.learningRate = 0.125;
    training.batchSize = 20;
    await training.pause();
    const { length } = steps;
    training.resume();
    while (steps.length < length + 3) await kaiseki.memory();
    assert.deepEqual([steps.at(-1).learningRate, steps.at(-1).batchSize], [0.125, 20]);
    stop.abort();
    await assert.rejects(training.finished, { name: 'AbortError' });
  });

  test('pauses between two steps, and can be aborted while paused', async () => {
    const [network, optimizer, data] = await prepared(small),
      stop = new AbortController();
    let steps = 0;
    const training = kaiseki.train(network, optimizer, data, {
      steps: 400,
      signal: stop.signal,
      onStep: () => ++steps,
    });
    await training.pause();
    assert.ok(training.paused && steps < 400);
    const there = steps,
      weights = await network.saveWeights();
    for (let i = 0; i < 20; ++i) await kaiseki.memory();
    assert.equal(steps, there);
    assert.deepEqual(await network.saveWeights(), weights);
    training.resume();
    await training.finished;
    assert.equal(steps, 400);
    assert.notDeepEqual(await network.saveWeights(), weights);

    const reason = new Error('enough'),
      other = kaiseki.train(network, optimizer, data, { signal: stop.signal });
    await other.pause();
    stop.abort(reason);
    await assert.rejects(other.finished, reason);
    await assert.rejects(kaiseki.train(network, optimizer, data, { signal: stop.signal }).finished, reason);
    await assert.rejects(network.evaluate(data, { signal: stop.signal }), reason);
    assert.equal((await network.evaluate(data)).confusion.length, 100);
  });

  test('aborts an evaluation', async () => {
    const [network, , data] = await prepared(lenet),
      stop = new AbortController();
    const evaluation = network.evaluate(data, { batchSize: 1, signal: stop.signal });
    stop.abort();
    await assert.rejects(evaluation, { name: 'AbortError' });
  });

  test('rejects invalid settings', async () => {
    const [network, optimizer, data] = await prepared(small);
    const refused = (more, options, message) =>
      assert.rejects(kaiseki.train(network, optimizer, { ...data, ...more }, options).finished, message);
    await refused({}, { batchSize: 0 }, /expected a batch size of 1 or more, got 0/);
    await refused({}, { learningRate: -1 }, /expected a learning rate of 0 or more, got -1/);
    await refused({}, { seed: 0.5 }, /expected an integer from 0 to 2\^53, got 0.5/);
    await refused({}, { epochs: 0 }, /expected epochs of 1 or more, got 0/);
    await refused({ labels: await kaiseki.tensor([1, 2]) }, {}, { kind: 'ShapeError' });
    await refused({ labels: await kaiseki.tensor(new Int32Array(600).fill(10)) }, {}, /label/);
    const { finished } = kaiseki.train(network, optimizer, data);
    optimizer.dispose();
    await assert.rejects(finished, /disposed/);
  });

  test('1000 steps do not grow handles or heap', async () => {
    const [network, optimizer, data] = await prepared(small);
    const train = () => kaiseki.train(network, optimizer, data, { batchSize: 50, steps: 500 }).finished;
    await train();
    await network.evaluate(data);
    const before = await kaiseki.memory();
    await train();
    await train();
    await network.evaluate(data);
    const after = await kaiseki.memory();
    assert.deepEqual([after.handles, after.heap, after.inUse], [before.handles, before.heap, before.inUse]);
  });
});
