// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { middles, neighbor, placesOf } from '../src/logic/scatter';

test('the wider axis fills the square, and both have one scale', () => {
  const places = placesOf([0, 9, 10, 8, 9, 12], 3, 0, 2);
  expect(places[0].x).toBeCloseTo(0.04);
  expect(places[1].x).toBeCloseTo(0.96);
  expect(places[0].y - places[1].y).toBeCloseTo((2 * 0.92) / 8);
  expect(places[0].y + places[1].y).toBeCloseTo(1);
});

test('equal samples are in the middle', () => {
  expect(placesOf([1, 1, 1, 1], 2, 0, 1)).toEqual([
    { x: 0.5, y: 0.5 },
    { x: 0.5, y: 0.5 },
  ]);
});

test('the middle of each class', () => {
  const places = [
    { x: 0, y: 0 },
    { x: 1, y: 0.5 },
    { x: 0.5, y: 1 },
  ];
  expect([...middles(places, [3, 3, 1])]).toEqual([
    [3, { x: 0.5, y: 0.25 }],
    [1, { x: 0.5, y: 1 }],
  ]);
});

test('the neighbor in each direction', () => {
  const places = [
    { x: 0.5, y: 0.5 },
    { x: 0.6, y: 0.52 },
    { x: 0.9, y: 0.5 },
    { x: 0.5, y: 0.1 },
  ];
  expect(neighbor(places, 0, 'right')).toBe(1);
  expect(neighbor(places, 1, 'right')).toBe(2);
  expect(neighbor(places, 0, 'up')).toBe(3);
  expect(neighbor(places, 0, 'down')).toBe(0);
  expect(neighbor(places, 2, 'left')).toBe(1);
});
