// SPDX-License-Identifier: MIT
// A curve of bounded length. When it is full, neighbors are averaged, and each later point averages twice as many
// values.

/** A copy of a curve, which can be stored. */
export interface SavedSeries {
  x: number[];
  y: number[];
  stride: number;
  count: number;
  sum: number;
}

export class Series {
  readonly x: number[] = [];
  readonly y: number[] = [];
  #stride = 1;
  #count = 0;
  #sum = 0;

  constructor(private readonly limit = 1200) {}

  push(x: number, y: number): void {
    this.#sum += y;
    if (++this.#count < this.#stride) return;
    this.x.push(x);
    this.y.push(this.#sum / this.#count);
    this.#count = this.#sum = 0;
    if (this.x.length >= this.limit) this.#halve();
  }

  save(): SavedSeries {
    return { x: [...this.x], y: [...this.y], stride: this.#stride, count: this.#count, sum: this.#sum };
  }

  static from({ x, y, stride, count, sum }: SavedSeries): Series {
    const series = new Series();
    series.x.push(...x);
    series.y.push(...y);
    [series.#stride, series.#count, series.#sum] = [stride, count, sum];
    return series;
  }

  #halve(): void {
    const half = this.x.length >> 1;
    for (let i = 0; i < half; ++i) {
      this.x[i] = this.x[2 * i + 1];
      this.y[i] = (this.y[2 * i] + this.y[2 * i + 1]) / 2;
    }
    this.x.length = this.y.length = half;
    this.#stride *= 2;
  }
}

/** A running mean. A value `memory` points back has the weight 1/e. The start is not biased to zero. */
export function smooth(values: readonly number[], memory = 12): number[] {
  const keep = Math.exp(-1 / memory);
  let sum = 0,
    weight = 0;
  return values.map((value) => {
    sum = keep * sum + value;
    weight = keep * weight + 1;
    return sum / weight;
  });
}
