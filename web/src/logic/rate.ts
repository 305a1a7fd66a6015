// SPDX-License-Identifier: MIT
// How fast a count grows: over the last seconds, however often it is looked at.

export class Rate {
  #marks: { at: number; count: number }[] = [];

  constructor(private readonly seconds = 20) {}

  /** `at` in seconds; the count each second since the oldest mark that is kept. */
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
