// SPDX-License-Identifier: MIT
// The rate of a count over the last seconds. It does not depend on how often it is read.

export class Rate {
  #marks: { at: number; count: number }[] = [];

  constructor(private readonly seconds = 20) {}

  /** Adds a count at a time in seconds. Returns the increase a second since the oldest sample. */
  add(at: number, count: number): number {
    const marks = this.#marks;
    if (marks.length && count < marks.at(-1)!.count) marks.length = 0;
    marks.push({ at, count });
    while (marks.length > 2 && at - marks[1].at >= this.seconds) marks.shift();
    const [first] = marks;
    return at > first.at ? (count - first.count) / (at - first.at) : 0;
  }

  clear(): void {
    this.#marks = [];
  }
}
