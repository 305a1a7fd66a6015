// SPDX-License-Identifier: MIT
// A curve of bounded length: when it is full, neighbours are averaged and from then on as many values make one point.

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

/** A running mean that weighs what is `memory` points back 1/e, and starts without a bias to zero. */
export function smooth(values: readonly number[], memory = 12): number[] {
  const keep = Math.exp(-1 / memory);
  let sum = 0, weight = 0;
  return values.map((value) => {
    sum = keep * sum + value;
    weight = keep * weight + 1;
    return sum / weight;
  });
}
