// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { PRESETS, generator, makePoints, nearest, type Preset } from '../src/logic/presets';

const NAMES = Object.keys(PRESETS) as Preset[];

test('the same seed gives the same numbers, and they are spread evenly', () => {
  const [a, b, c] = [generator(3), generator(3), generator(4)];
  const values = Array.from({ length: 4000 }, a);
  expect(Array.from({ length: 4000 }, b)).toEqual(values);
  expect(c()).not.toBe(values[0]);
  expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
  for (let part = 0; part < 10; ++part) {
    const count = values.filter((value) => Math.floor(10 * value) === part).length;
    expect(count).toBeGreaterThan(330);
    expect(count).toBeLessThan(470);
  }
});

test.each(NAMES)('%s has points of each class inside the plane', (name) => {
  const points = makePoints(name, 1);
  expect(points).toEqual(makePoints(name, 1));
  expect(points).not.toEqual(makePoints(name, 2));
  expect(points.length).toBe(PRESETS[name].count);
  expect(points.every(({ x, y }) => Math.abs(x) < 1 && Math.abs(y) < 1)).toBe(true);
  const counts = new Map<number, number>();
  for (const { label } of points) counts.set(label, (counts.get(label) ?? 0) + 1);
  expect([...counts.keys()].sort()).toEqual(Array.from({ length: counts.size }, (_, i) => i));
  expect(counts.size).toBeGreaterThan(1);
  expect(Math.min(...counts.values())).toBeGreaterThan(30);
});

test('opposite quarters of XOR have the same class', () => {
  for (const { x, y, label } of makePoints('xor', 5)) expect(label).toBe(x > 0 === y > 0 ? 0 : 1);
});

test('finds the nearest point within reach', () => {
  const points = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
  ];
  expect(nearest(points, { x: 0.6, y: 0 })).toBe(1);
  expect(nearest(points, { x: 0.5, y: 0.5 }, 0.1)).toBe(-1);
  expect(nearest([], { x: 0, y: 0 })).toBe(-1);
});
