// SPDX-License-Identifier: MIT
// A scatter plot: places of samples in the unit square, and the sample next to another one.

export interface Place {
  /** From 0 at the left and the top, to 1. */
  x: number;
  y: number;
}

const MARGIN = 0.04;

/** The places of the columns `across` and `down` of z, row by row with `columns` values. Both axes have one scale. */
export function placesOf(z: ArrayLike<number>, columns: number, across: number, down: number): Place[] {
  const count = z.length / columns;
  const range = (column: number) => {
    let low = Infinity,
      high = -Infinity;
    for (let i = 0; i < count; ++i) {
      low = Math.min(low, z[i * columns + column]);
      high = Math.max(high, z[i * columns + column]);
    }
    return [(low + high) / 2, high - low];
  };
  const [middleX, sizeX] = range(across),
    [middleY, sizeY] = range(down),
    scale = (1 - 2 * MARGIN) / Math.max(sizeX, sizeY, 1e-12);
  return Array.from({ length: count }, (_, i) => ({
    x: 0.5 + scale * (z[i * columns + across] - middleX),
    y: 0.5 - scale * (z[i * columns + down] - middleY),
  }));
}

/** The means of the places of each class. Classes without samples have none. */
export function middles(places: readonly Place[], labels: ArrayLike<number>): Map<number, Place> {
  const sums = new Map<number, [x: number, y: number, count: number]>();
  places.forEach(({ x, y }, i) => {
    const sum = sums.get(labels[i]) ?? [0, 0, 0];
    sums.set(labels[i], [sum[0] + x, sum[1] + y, sum[2] + 1]);
  });
  return new Map([...sums].map(([label, [x, y, count]]) => [label, { x: x / count, y: y / count }]));
}

export type Direction = 'left' | 'right' | 'up' | 'down';
const STEPS = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] } as const;

/** The nearest sample in a direction: it lies within 45 degrees. Returns `from` if there is none. */
export function neighbor(places: readonly Place[], from: number, direction: Direction): number {
  const [dx, dy] = STEPS[direction],
    start = places[from];
  let best = from,
    least = Infinity;
  places.forEach((place, i) => {
    const x = place.x - start.x,
      y = place.y - start.y,
      along = x * dx + y * dy,
      across = Math.abs(x * dy) + Math.abs(y * dx);
    const distance = along + 2 * across;
    if (along > 0 && across <= along && distance < least) [best, least] = [i, distance];
  });
  return best;
}
