// SPDX-License-Identifier: MIT
// The results of the playground's worker, with the real library.
import { load } from 'kaiseki/learn';
import { expect, test } from 'vitest';
import { MODELS, modelOf, settingsOf, startOf } from '../src/logic/models';
import { makePoints, type Preset } from '../src/logic/presets';
import { componentsOf, drawPlane, fitPlane } from '../src/playground/answers';
import { rebuilt } from '../src/playground/digits-state';

const learn = await load();
const SIDE = 24;

function answer(name: string, preset: Preset, values = {}) {
  const model = modelOf(name),
    points = makePoints(preset, 1);
  const request = {
    name,
    settings: settingsOf(model, { ...startOf(model), ...values }),
    points: Float32Array.from(points.flatMap(({ x, y }) => [x, y])),
    labels: Int32Array.from(points, ({ label }) => label),
    clusters: model.clusters,
  };
  const { model: fittedModel, fitted } = fitPlane(learn, request);
  try {
    return { fitted, ...drawPlane(fittedModel, request, SIDE) };
  } finally {
    fittedModel.dispose();
  }
}

test.each(MODELS.map(({ name }) => name))('%s separates blobs', (name) => {
  const { fitted, field } = answer(name, 'blobs');
  expect(field.classes.length).toBe(SIDE * SIDE);
  expect([...new Set(field.classes)].sort()).toEqual([0, 1, 2]);
  if (!modelOf(name).clusters) expect(fitted.score).toBeGreaterThan(0.9);
  expect(fitted.clusters.length).toBe(modelOf(name).clusters ? 150 : 0);
});

test.each(MODELS.map(({ name }) => name))('%s takes the ends of all its settings', (name) => {
  for (const setting of modelOf(name).settings) {
    const ends = setting.kind === 'slider' ? [setting.least, setting.most] : Object.keys(setting.options);
    for (const end of ends) expect(answer(name, 'moons', { [setting.key]: end }).field.side).toBe(SIDE);
  }
});

test('a support vector machine has a boundary and a margin for two classes', () => {
  const two = answer('SVC', 'moons');
  expect(two.boundary.length).toBeGreaterThan(40);
  expect(two.margin.length).toBeGreaterThan(40);
  expect(answer('SVC', 'blobs').boundary).toEqual([]);
});

test('k-means has centers and a mixture has ellipses', () => {
  expect(answer('KMeans', 'blobs', { n_clusters: 5 }).fitted.centers.length).toBe(10);
  for (const covariance_type of ['full', 'tied', 'diag', 'spherical']) {
    const { ellipses } = answer('GaussianMixture', 'blobs', { covariance_type }).fitted;
    expect(ellipses.length).toBe(3);
    for (const { x, y, wide, narrow } of ellipses) {
      expect(Math.max(Math.abs(x), Math.abs(y))).toBeLessThan(1);
      expect(narrow).toBeLessThanOrEqual(wide);
      expect(narrow).toBeGreaterThan(0.05);
      expect(wide).toBeLessThan(0.4);
    }
  }
});

test('an error leaves no model behind', () => {
  const before = learn.memory().handles;
  const request = { points: new Float32Array(4), labels: new Int32Array(2), clusters: false };
  expect(() => fitPlane(learn, { ...request, name: 'SVC', settings: {} })).toThrow(/class/);
  expect(learn.memory().handles).toBe(before);
});

test('digits from their components are near the digits', () => {
  const pictures = learn.digits({ count: 300 }),
    components = componentsOf(learn, pictures),
    ratios = [...components.ratios];
  expect(ratios.length).toBe(8);
  expect(ratios).toEqual([...ratios].sort((a, b) => b - a));
  expect(components.places.length).toBe(8 * 300);
  const error = (values: (i: number) => ArrayLike<number>) => {
    let sum = 0;
    for (let i = 0; i < 300; ++i)
      for (let at = 0; at < 784; ++at) sum += (values(i)[at] - pictures.images[784 * i + at] / 255) ** 2;
    return sum;
  };
  const rebuiltPictures = Array.from({ length: 300 }, (_, i) => rebuilt(components, i));
  expect(error((i) => rebuiltPictures[i])).toBeLessThan(0.75 * error(() => components.mean));
});
