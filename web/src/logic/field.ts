// SPDX-License-Identifier: MIT
// The decision function on a grid. It has the class of each cell and how sure the model is, and lines of equal values.

export interface Field {
  /** Cells along a side. Row 0 is at the top, y = 1. */
  side: number;
  classes: Uint8Array<ArrayBuffer>;
  /** From 0, two classes are equal, to 255. */
  strengths: Uint8Array<ArrayBuffer>;
}

type Color = readonly [red: number, green: number, blue: number];

/** The centers of the cells: x and y of each, row by row. */
export function grid(side: number): Float32Array<ArrayBuffer> {
  const cells = new Float32Array(2 * side * side),
    place = (i: number) => (2 * i + 1) / side - 1;
  for (let row = 0; row < side; ++row)
    for (let column = 0; column < side; ++column) cells.set([place(column), -place(row)], 2 * (row * side + column));
  return cells;
}

/** `labels[i]` is the class of column i of the probabilities. */
export function fieldOfProbabilities(side: number, values: ArrayLike<number>, labels: readonly number[]): Field {
  const cells = side * side,
    count = labels.length,
    field = { side, classes: new Uint8Array(cells), strengths: new Uint8Array(cells) };
  for (let cell = 0; cell < cells; ++cell) {
    let best = 0,
      second = 0,
      at = 0;
    for (let i = 0; i < count; ++i) {
      const value = values[cell * count + i];
      if (value > best) [second, best, at] = [best, value, i];
      else if (value > second) second = value;
    }
    field.classes[cell] = labels[at];
    field.strengths[cell] = Math.round(255 * Math.min(1, best - second));
  }
  return field;
}

export function fieldOfLabels(side: number, values: ArrayLike<number>): Field {
  return { side, classes: Uint8Array.from(values), strengths: new Uint8Array(side * side).fill(255) };
}

/** Values above 0 are the second class. A value of 1 is at the edge of the margin. */
export function fieldOfMargins(side: number, values: ArrayLike<number>, labels: readonly number[]): Field {
  return {
    side,
    classes: Uint8Array.from(values, (value) => labels[value > 0 ? 1 : 0]),
    strengths: Uint8Array.from(values, (value) => Math.round(255 * Math.min(1, Math.abs(value) / 1.5))),
  };
}

const FAINT = 0.1,
  FULL = 0.5;

/** Mixes the color of each cell's class into the background. */
export function paintField(
  { side, classes, strengths }: Field,
  colors: readonly Color[],
  background: Color,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(4 * side * side);
  for (let cell = 0; cell < classes.length; ++cell) {
    const color = colors[classes[cell] % colors.length],
      share = FAINT + ((FULL - FAINT) * strengths[cell]) / 255;
    for (let c = 0; c < 3; ++c) pixels[4 * cell + c] = background[c] + (color[c] - background[c]) * share;
    pixels[4 * cell + 3] = 255;
  }
  return pixels;
}

/**
 * The line on which `values` (side x side, row by row) have a level. It consists of segments of four numbers x, y, x,
 * y. They are in parts of the grid's width, from the left and from the top.
 */
export function contour(values: ArrayLike<number>, side: number, level: number): number[] {
  const segments: number[] = [];
  const place = (i: number) => (i + 0.5) / side;
  for (let row = 0; row + 1 < side; ++row)
    for (let column = 0; column + 1 < side; ++column) {
      // Corners in order around the cell. Each edge is from a corner to the next.
      const corners = [
        [column, row],
        [column + 1, row],
        [column + 1, row + 1],
        [column, row + 1],
      ];
      const heights = corners.map(([x, y]) => values[y * side + x] - level);
      const cuts: number[] = [];
      for (let i = 0; i < 4; ++i) {
        const a = heights[i],
          b = heights[(i + 1) % 4];
        if (a > 0 === b > 0) continue;
        const part = a / (a - b),
          [x0, y0] = corners[i],
          [x1, y1] = corners[(i + 1) % 4];
        cuts.push(place(x0 + part * (x1 - x0)), place(y0 + part * (y1 - y0)));
      }
      // At a saddle there are four cuts. The first two and the last two are joined.
      segments.push(...cuts);
    }
  return segments;
}
