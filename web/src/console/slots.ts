// SPDX-License-Identifier: MIT

/** Numbers for the rows that are drawn. A row's elements are used again for the next row with its number. */
export class Slots {
  readonly #slots = new Map<string, number>();

  /** A number for each id. Ids that stay keep theirs. New ids get those that became free. */
  assign(ids: readonly string[]): number[] {
    const drawn = new Set(ids);
    for (const id of this.#slots.keys()) if (!drawn.has(id)) this.#slots.delete(id);
    const taken = new Set(this.#slots.values());
    let free = 0;
    const take = (id: string) => {
      while (taken.has(free)) ++free;
      this.#slots.set(id, free);
      return free++;
    };
    return ids.map((id) => this.#slots.get(id) ?? take(id));
  }
}
