// SPDX-License-Identifier: MIT
// The decision function: its cells, colors and lines. Also the ellipses of mixtures.
import { expect, test } from 'vitest';
import { contour, fieldOfLabels, fieldOfMargins, fieldOfProbabilities, grid, paintField } from '../src/logic/field';
import { ellipsesOf } from '../src/logic/ellipse';

test('cells go from the top left to the bottom right', () => {
  expect(Array.from(grid(2))).toEqual([-0.5, 0.5, 0.5, 0.5, -0.5, -0.5, 0.5, -0.5]);
});

test('the strength is the distance of the two largest probabilities', () => {
  const field = fieldOfProbabilities(2, [1, 0, 0, 0.25, 0.75, 0, 0.4, 0.2, 0.4, 0, 0, 1], [3, 5, 7]);
  expect(Array.from(field.classes)).toEqual([3, 5, 3, 7]);
  expect(Array.from(field.strengths)).toEqual([255, 128, 0, 255]);
});

test('labels have the full strength', () => {
  const field = fieldOfLabels(2, [0, 1, 1, 2]);
  expect(Array.from(field.classes)).toEqual([0, 1, 1, 2]);
  expect(new Set(field.strengths)).toEqual(new Set([255]));
});

test('values above 0 are the second class', () => {
  const field = fieldOfMargins(2, [-3, -0.3, 0.3, 1.5], [1, 4]);
  expect(Array.from(field.classes)).toEqual([1, 1, 4, 4]);
  expect(Array.from(field.strengths)).toEqual([255, 51, 51, 255]);
});

test('a cell has more of its color the surer the model is', () => {
  const field = fieldOfProbabilities(2, [1, 0, 0.5, 0.5, 0, 1, 0, 1], [0, 1]);
  const pixels = paintField(
    field,
    [
      [0, 0, 0],
      [200, 100, 0],
    ],
    [100, 100, 100],
  );
  expect(Array.from(pixels.slice(0, 8))).toEqual([50, 50, 50, 255, 90, 90, 90, 255]);
  expect(Array.from(pixels.slice(8, 12))).toEqual([150, 100, 50, 255]);
});

test('the contour of a plane is a straight line', () => {
  const side = 4,
    values = Array.from({ length: side * side }, (_, i) => i % side);
  const segments = contour(values, side, 1.5);
  expect(segments.length).toBe(4 * (side - 1));
  for (let i = 0; i < segments.length; i += 2) expect(segments[i]).toBeCloseTo(0.5);
  expect(contour(values, side, 7)).toEqual([]);
});

test('the contour of a hill is closed', () => {
  const side = 16,
    cells = grid(side);
  const values = Array.from({ length: side * side }, (_, i) => Math.hypot(cells[2 * i], cells[2 * i + 1]));
  const segments = contour(values, side, 0.5);
  const ends = new Map<string, number>();
  for (let i = 0; i < segments.length; i += 2) {
    const [x, y] = segments.slice(i, i + 2);
    expect(Math.hypot(2 * x - 1, 2 * y - 1)).toBeCloseTo(0.5, 1);
    const end = `${x.toFixed(6)} ${y.toFixed(6)}`;
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  expect(new Set(ends.values())).toEqual(new Set([2]));
});

test('ellipses have the deviations and the angle of each kind of covariance', () => {
  const means = [0, 1, 2, 3];
  const [first, second] = ellipsesOf('full', means, [4, 0, 0, 1, 2.5, 1.5, 1.5, 2.5]);
  expect(first).toEqual({ x: 0, y: 1, wide: 2, narrow: 1, angle: 0 });
  expect([second.x, second.y, second.wide, second.narrow]).toEqual([2, 3, 2, 1]);
  expect(second.angle).toBeCloseTo(Math.PI / 4);
  expect(ellipsesOf('tied', means, [1, 0, 0, 4])[1]).toMatchObject({ x: 2, wide: 2, narrow: 1 });
  expect(ellipsesOf('tied', means, [1, 0, 0, 4])[1].angle).toBeCloseTo(Math.PI / 2);
  expect(ellipsesOf('diag', means, [1, 4, 9, 1])[1]).toMatchObject({ wide: 3, narrow: 1, angle: 0 });
  expect(ellipsesOf('spherical', means, [1, 9])[1]).toMatchObject({ wide: 3, narrow: 3 });
});
