// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { MODELS, lacks, modelOf, settingsOf, startOf, valueAt, type Slider } from '../src/logic/models';

test('each model has one to three settings, whose start is possible', () => {
  for (const { settings } of MODELS) {
    expect(settings.length).toBeGreaterThan(0);
    expect(settings.length).toBeLessThan(4);
    for (const setting of settings)
      if (setting.kind === 'choice') expect(setting.options).toHaveProperty(setting.start);
      else {
        expect(setting.start).toBeGreaterThanOrEqual(setting.least);
        expect(setting.start).toBeLessThanOrEqual(setting.most);
      }
  }
});

test('a logarithmic slider gives powers of ten', () => {
  const slider = modelOf('SVC').settings.find(({ key }) => key === 'C') as Slider;
  expect([-2, 0, 0.25, 3].map((position) => valueAt(slider, position))).toEqual([0.01, 1, 1.78, 1000]);
});

test('settings without effect are left out', () => {
  const model = modelOf('SVC');
  expect(settingsOf(model, startOf(model))).toEqual({ kernel: 'rbf', C: 1, gamma: 3.16 });
  expect(settingsOf(model, { ...startOf(model), kernel: 'linear' })).toEqual({ kernel: 'linear', C: 1 });
});

test('says what a model lacks', () => {
  const [svc, means] = [modelOf('SVC'), modelOf('KMeans')];
  expect(lacks(svc, startOf(svc), [1, 1])).toMatch(/two classes/);
  expect(lacks(svc, startOf(svc), [0, 1])).toBe('');
  expect(lacks(means, { n_clusters: 5 }, [0, 0, 0, 0])).toMatch(/at least 5 points/);
  expect(lacks(means, { n_clusters: 4 }, [0, 0, 0, 0])).toBe('');
});
