// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { center, SIDE } from '../src/logic/center';

const PAPER = 280;

function box(left: number, top: number, width: number, height: number): Uint8Array {
  const ink = new Uint8Array(PAPER * PAPER);
  for (let y = top; y < top + height; ++y) ink.fill(255, y * PAPER + left, y * PAPER + left + width);
  return ink;
}

/** The amount of ink, and its center and extent in pixels. */
function describe(pixels: Float32Array) {
  let mass = 0,
    x = 0,
    y = 0,
    top = SIDE,
    bottom = -1;
  pixels.forEach((value, i) => {
    ((mass += value), (x += value * ((i % SIDE) + 0.5)), (y += value * (Math.floor(i / SIDE) + 0.5)));
    if (value > 0.5) ((top = Math.min(top, Math.floor(i / SIDE))), (bottom = Math.max(bottom, Math.floor(i / SIDE))));
  });
  return { x: x / mass, y: y / mass, height: bottom - top + 1 };
}

test('returns null when nothing is drawn', () => expect(center(new Uint8Array(PAPER * PAPER), PAPER)).toBeNull());

test.each([
  [10, 20, 30, 100],
  [200, 5, 40, 60],
  [100, 100, 20, 170],
])('scales a box at %d, %d to 20 pixels around the middle', (left, top, width, height) => {
  const found = describe(center(box(left, top, width, height), PAPER)!);
  expect(found.x).toBeCloseTo(14, 1);
  expect(found.y).toBeCloseTo(14, 1);
  expect(Math.abs(found.height - 20)).toBeLessThanOrEqual(1);
});

test('does not depend on the place of the drawing', () => {
  const a = center(box(20, 30, 40, 140), PAPER)!,
    b = center(box(190, 100, 40, 140), PAPER)!;
  expect(Math.max(...a.map((value, i) => Math.abs(value - b[i])))).toBeLessThan(1e-5);
});

test('keeps a dot small', () => {
  expect(describe(center(box(140, 140, 6, 6), PAPER)!).height).toBeLessThanOrEqual(7);
});
