// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { augmentationOf, describe, normalize, scheduleOf } from '../src/logic/recipe';

const models = new URL('../../models/', import.meta.url);
const recipeOf = (name: string) => JSON.parse(readFileSync(new URL(name, models), 'utf8')).recipe;

test('says what applies of the recipes of models/', () => {
  expect(describe(recipeOf('lenet.json'))).toEqual({ used: 'cosine schedule, weight decay 0.0005', left: '' });
  expect(describe(recipeOf('cifar.json'))).toEqual({
    used: 'cosine schedule, warm-up over 0.5 epochs, weight decay 0.0001, normalized pictures, random flip',
    left: '',
  });
  expect(describe(recipeOf('vgg16.json'))).toEqual({
    used: 'step schedule, a lower rate every 20 epochs, weight decay 0.0005, normalized pictures, random flip',
    left: 'resizing to 256, random crops',
  });
  expect(describe({})).toEqual({ used: '', left: '' });
});

test('a crop without padding needs larger pictures', () => {
  expect(augmentationOf({ augment: 'crop,flip', resize: 256 })).toBe('flip');
  expect(augmentationOf({ augment: 'crop', resize: 256 })).toBe('none');
  expect(augmentationOf({ augment: 'crop:2,flip', resize: 256 })).toBe('crop:2,flip');
  expect(augmentationOf({ augment: 'crop' })).toBe('crop');
});

test('begins the schedule again after its end', () => {
  const done = (epochs: number) => scheduleOf({}, 3, epochs).done;
  expect([0, 1.5, 3, 2.9999999999, 4].map(done)).toEqual([0, 1.5, 0, 0, 1]);
});

test('normalizes by channel, or with one number for all', () => {
  const pixels = Float32Array.from([0, 1, 0.5, 0.25]);
  expect([...normalize(pixels, 2, { mean: [0.5, 0.25], std: [0.5, 0.25] })]).toEqual([-1, 1, 1, 0]);
  expect([...normalize(pixels, 2, { std: [0.5] })]).toEqual([0, 2, 1, 0.5]);
  expect(normalize(pixels, 2, {})).toBe(pixels);
});
