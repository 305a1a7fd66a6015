// SPDX-License-Identifier: MIT
// kaiseki/learn: every kind of model fits, predicts, and is the same model after it was saved and loaded.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { load } from 'kaiseki/learn';

const learn = await load();

/** Three clouds of points around (0, 0), (4, 0) and (0, 4). All coordinates are 0 or more, for counts. */
const CENTERS = [
    [1, 1],
    [5, 1],
    [1, 5],
  ],
  COUNT = 60;
const labels = Array.from({ length: COUNT }, (_, i) => i % 3);
const x = labels.flatMap((label, i) => [
  CENTERS[label][0] + 0.5 * Math.sin(12.9898 * i),
  CENTERS[label][1] + 0.5 * Math.cos(78.233 * i),
]);
const SHAPE = [COUNT, 2];
const targets = labels.map((_, i) => 2 * x[2 * i] - 3 * x[2 * i + 1] + 1);
const targetsOf = { classification: labels, regression: targets };

/** Settings without which a kind does not fit these data, or not soon. */
const SETTINGS = {
  CCA: { n_components: 1 },
  GaussianMixture: { n_components: 3 },
  IncrementalPCA: { n_components: 2 },
  KMeans: { n_clusters: 3 },
  MiniBatchKMeans: { n_clusters: 3 },
  RandomForestClassifier: { n_estimators: 5 },
  RandomForestRegressor: { n_estimators: 5 },
  SGDClassifier: { loss: 'log_loss' },
};

/** The file of a model, with a fitted StandardScaler before it as `kaiseki fit --scale` writes. */
function fileWithScaler(model, scaler) {
  const saved = model.save();
  const length = Number(new DataView(saved.buffer, saved.byteOffset).getBigUint64(0, true));
  const { __metadata__: metadata, ...tensors } = JSON.parse(Buffer.from(saved.subarray(8, 8 + length)));
  const state = scaler.state();
  const { features, ...values } = state.values;
  assert.equal(features, 2);
  const all = { ...JSON.parse(metadata['kaiseki.model']), scaler: values };
  const parts = [saved.subarray(8 + length)];
  let end = parts[0].length;
  for (const [name, tensor] of Object.entries(state.tensors)) {
    const bytes = Buffer.from(tensor.values.buffer);
    assert.ok(tensor.values instanceof Float64Array);
    tensors[`scaler.${name}`] = { dtype: 'F64', shape: tensor.shape, data_offsets: [end, (end += bytes.length)] };
    parts.push(bytes);
  }
  // Without a checksum, which is optional.
  const header = Buffer.from(JSON.stringify({ __metadata__: { 'kaiseki.model': JSON.stringify(all) }, ...tensors }));
  const first = Buffer.alloc(8);
  first.writeBigUInt64LE(BigInt(header.length));
  return new Uint8Array(Buffer.concat([first, header, ...parts]));
}

describe('kaiseki/learn', () => {
  test('lists its models', () => {
    const names = learn.models.map(({ name }) => name);
    for (const name of ['KMeans', 'GaussianMixture', 'SVC', 'RandomForestClassifier', 'PCA', 'Ridge'])
      assert.ok(names.includes(name), name);
    assert.ok(learn.models.every(({ about, task }) => about && task));
  });

  for (const { name, task } of learn.models)
    test(`${name} predicts the same after save() and load()`, () => {
      const model = learn.model(name, SETTINGS[name]);
      assert.deepEqual([model.name, model.task, model.features], [name, task, 0]);
      assert.equal(model.fit(x, SHAPE, targetsOf[task]), model);
      assert.equal(model.features, 2);
      const again = learn.load(model.save());
      assert.deepEqual([again.name, again.settings, again.features], [name, model.settings, 2]);
      for (const use of model.uses) {
        const values = model.apply(use, x, SHAPE);
        assert.equal(values.length % COUNT, 0);
        assert.ok(values.every(Number.isFinite));
        assert.deepEqual(again.apply(use, x, SHAPE), values);
      }
      if (model.hasScore) assert.equal(again.score(x, SHAPE, targetsOf[task]), model.score(x, SHAPE, targetsOf[task]));
      else assert.throws(() => model.score(x, SHAPE, targetsOf[task]), { kind: 'Error', message: /score/ });
      model.dispose();
      again.dispose();
    });

  test('classifiers find the clouds', () => {
    for (const name of ['SVC', 'LogisticRegression', 'DecisionTreeClassifier', 'KNeighborsClassifier', 'GaussianNB']) {
      const model = learn.model(name).fit(Float32Array.from(x), SHAPE, Int32Array.from(labels));
      assert.deepEqual(Array.from(model.apply('predict', x, SHAPE)), labels, name);
      assert.equal(model.score(x, SHAPE, labels), 1, name);
    }
  });

  test('KMeans has its centers in state()', () => {
    const model = learn.model('KMeans', { n_clusters: 3, seed: 1 }).fit(x, SHAPE);
    const { values, tensors } = model.state();
    assert.equal(values.features, 2);
    const [centers] = Object.values(tensors).filter(({ shape }) => shape.join() === '3,2');
    const found = CENTERS.map(([a, b]) =>
      Math.min(...[0, 1, 2].map((i) => Math.hypot(centers.values[2 * i] - a, centers.values[2 * i + 1] - b))),
    );
    assert.ok(Math.max(...found) < 0.3, String(found));
    assert.equal(new Set(model.apply('predict', x, SHAPE)).size, 3);
  });

  test('a regression has one target or more for each row', () => {
    const one = learn.model('Ridge', { alpha: 1e-6 }).fit(x, SHAPE, targets);
    assert.ok(one.score(x, SHAPE, targets) > 0.9999);
    const pairs = targets.flatMap((value) => [value, -value]);
    const two = learn.model('Ridge').fit(x, SHAPE, pairs);
    assert.equal(two.apply('predict', x, SHAPE).length, 2 * COUNT);
  });

  test('partial_fit learns in parts, and goes on after load()', () => {
    const half = COUNT / 2;
    const whole = learn.model('GaussianNB').fit(x, SHAPE, labels);
    const first = learn.model('GaussianNB').partial_fit(x.slice(0, COUNT), [half, 2], labels.slice(0, half), [0, 1, 2]);
    assert.ok(first.hasPartialFit);
    const parts = learn.load(first.save()).partial_fit(x.slice(COUNT), [half, 2], labels.slice(half));
    const expected = whole.apply('predict_proba', x, SHAPE);
    parts.apply('predict_proba', x, SHAPE).forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-4));
    assert.equal(learn.model('MiniBatchKMeans', { n_clusters: 3 }).partial_fit(x, SHAPE).features, 2);
    const ridge = learn.model('Ridge');
    assert.equal(ridge.hasPartialFit, false);
    assert.throws(() => ridge.partial_fit(x, SHAPE, targets), { message: /Ridge.*no partial_fit/ });
    assert.throws(() => learn.model('GaussianNB').partial_fit(x, SHAPE, labels, [0, 1]), { name: 'KaisekiError' });
    assert.throws(() => learn.model('GaussianNB').partial_fit(x, SHAPE, labels), { message: /classes/ });
  });

  test('after load() of a file with a scaler, partial_fit goes on as in memory, bit for bit', () => {
    const half = COUNT / 2,
      middle = 2 * half;
    const scaler = learn.model('StandardScaler').fit(x.slice(0, middle), [half, 2]);
    const z = scaler.apply('transform', x, SHAPE);
    let tested = 0;
    for (const { name, task } of learn.models) {
      const model = learn.model(name, SETTINGS[name]);
      // MultinomialNB needs samples of 0 or more, and scaled ones are not.
      if (!model.hasPartialFit || name === 'MultinomialNB') continue;
      ++tested;
      const y = targetsOf[task];
      const [first, rest] = [y?.slice(0, half), y?.slice(half)];
      model.partial_fit(z.subarray(0, middle), [half, 2], first, task === 'classification' ? [0, 1, 2] : []);
      const file = fileWithScaler(model, scaler);
      const [loaded, scaledTwice] = [learn.load(file), learn.load(file)];
      const before = model.state();
      model.partial_fit(z.subarray(middle), [half, 2], rest);
      loaded.partial_fit(x.slice(middle), [half, 2], rest);
      scaledTwice.partial_fit(z.subarray(middle), [half, 2], rest);
      const expected = model.state();
      assert.notDeepEqual(expected, before, name);
      assert.deepEqual(loaded.state(), expected, name);
      assert.notDeepEqual(scaledTwice.state(), expected, name);
      for (const use of model.uses) assert.deepEqual(loaded.apply(use, x, SHAPE), model.apply(use, z, SHAPE), name);
      // The file of the continued model has the scaler too.
      const again = learn.load(loaded.save());
      assert.deepEqual(again.apply(model.uses[0], x, SHAPE), model.apply(model.uses[0], z, SHAPE), name);
      for (const one of [model, loaded, scaledTwice, again]) one.dispose();
    }
    assert.ok(tested >= 11, `${tested} kinds`);
  });

  test('settings are those of the native library', () => {
    const model = learn.model('KMeans', { n_clusters: 5 });
    assert.equal(model.settings.n_clusters, 5);
    assert.equal(model.settings.n_init, 10);
    assert.throws(() => learn.model('KMeans', { clusters: 5 }), { kind: 'ParseError', message: /n_clusters/ });
    assert.throws(() => learn.model('KMeans', { n_clusters: 'a' }), { kind: 'ParseError' });
    assert.throws(() => learn.model('KMeans', { n_clusters: 0 }), { kind: 'Error' });
    assert.throws(() => learn.model('Means'), { kind: 'Error', message: /KMeans.*got 'Means'/ });
  });

  test('wrong calls are errors, and the model stays usable', () => {
    const model = learn.model('GaussianNB');
    assert.throws(() => model.apply('predict', x, SHAPE), { name: 'KaisekiError' });
    assert.throws(() => model.fit(x, SHAPE), { message: /GaussianNB.*expected y/ });
    assert.throws(() => model.fit(x, [COUNT, 3], labels), { kind: 'ShapeError', message: /180 values.*got 120/ });
    assert.throws(() => model.fit(x, [2 * COUNT], labels), { message: /shape \[rows, features\]/ });
    assert.throws(() => model.fit(x, SHAPE, [0, 1]), { kind: 'ShapeError', message: /60 labels/ });
    assert.throws(() => model.fit(x, SHAPE, targets), { message: /32-bit integer/ });
    assert.throws(() => model.fit([NaN, 0, 1, 1], [2, 2], [0, 1]), { kind: 'ShapeError' });
    model.fit(x, SHAPE, labels);
    assert.throws(() => model.apply('transform', x, SHAPE), { message: /GaussianNB.*transform/ });
    assert.throws(() => model.apply('guess', x, SHAPE), { message: /predict_proba.*got 'guess'/ });
    assert.throws(() => model.apply('predict', x, [40, 3]), { kind: 'ShapeError' });
    assert.equal(model.score(x, SHAPE, labels), 1);
    assert.throws(() => learn.load(new Uint8Array(100)), { kind: 'ParseError' });
    const bytes = model.save();
    bytes[bytes.length - 1] ^= 1;
    assert.throws(() => learn.load(bytes), { kind: 'ParseError' });
  });

  test('PCA of the built-in digits keeps their variance in order', () => {
    const { images, shape, labels: classes } = learn.digits({ count: 200, seed: 3 });
    assert.deepEqual([images.length, shape], [200 * 784, [200, 28, 28]]);
    assert.deepEqual(Array.from(classes.subarray(0, 12)), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    const model = learn.model('PCA', { n_components: 4 }).fit(images, [200, 784]);
    const z = model.apply('transform', images, [200, 784]);
    assert.equal(z.length, 800);
    const variance = [0, 1, 2, 3].map((c) => labels.reduce((sum, _, i) => sum + z[4 * i + c] ** 2, 0));
    assert.ok(variance[0] > variance[3]);
    assert.throws(() => learn.digits({ count: 0 }), { message: /\[digits\]/ });
  });

  test('disposed models free their memory', () => {
    const before = learn.memory().handles;
    const model = learn.model('KNeighborsClassifier').fit(x, SHAPE, labels);
    assert.equal(learn.memory().handles, before + 1);
    model.dispose();
    model.dispose();
    assert.equal(learn.memory().handles, before);
    assert.throws(() => model.apply('predict', x, SHAPE), { message: /disposed/ });
  });
});
