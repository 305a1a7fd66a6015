// SPDX-License-Identifier: MIT
// The data that this browser keeps for a coordinator between visits: the node's identity, its totals, and an expulsion.
import { addBytes, readParts, type Part } from './traffic';

export interface Totals {
  done: number;
  accepted: number;
  failed: number;
  samples: number;
  received: number;
  sent: number;
  seconds: number;
}
export interface Expulsion {
  /** The coordinator's addition, such as ": a wrong result". */
  reason: string;
  /** Milliseconds since 1970. Before that, the page does not join. */
  until: number;
}
export interface Memory {
  /** The key is secret: it proves that a page is the same node. */
  identity: { node?: string; key?: string };
  totals: Totals;
  expulsion: Expulsion | null;
}

export const MEMORY_KEY = 'kaiseki.node';
export const TRAFFIC_KEY = 'kaiseki.traffic';
const NO_TOTALS: Totals = { done: 0, accepted: 0, failed: 0, samples: 0, received: 0, sent: 0, seconds: 0 };

/** Reads a stored memory. Invalid parts are empty. */
export function readMemory(kept: string | null): Memory {
  let given: Record<string, any> = {};
  try {
    given = Object(JSON.parse(kept ?? '{}'));
  } catch {
    // Another program's value.
  }
  const { node, key } = Object(given.identity);
  const { reason, until } = Object(given.expulsion);
  const number = (value: unknown) => (typeof value === 'number' && value >= 0 ? value : 0);
  return {
    identity: typeof node === 'string' && typeof key === 'string' ? { node, key } : {},
    totals: Object.fromEntries(
      Object.keys(NO_TOTALS).map((name) => [name, number(Object(given.totals)[name])]),
    ) as unknown as Totals,
    expulsion: typeof reason === 'string' && typeof until === 'number' ? { reason, until } : null,
  };
}

/** Reads the stored traffic. */
export function readTraffic(kept: string | null): Part[] {
  try {
    return readParts(JSON.parse(kept ?? '[]'));
  } catch {
    return []; // another program's value
  }
}

/** Adds bytes to the traffic that all tabs store, and returns it. Null: storage is not allowed. */
export function keepTraffic(bytes: number, now: number): Part[] | null {
  try {
    const parts = addBytes(readTraffic(localStorage.getItem(TRAFFIC_KEY)), bytes, now);
    localStorage.setItem(TRAFFIC_KEY, JSON.stringify(parts));
    return parts;
  } catch {
    return null;
  }
}

export function loadMemory(): Memory {
  try {
    return readMemory(localStorage.getItem(MEMORY_KEY));
  } catch {
    return readMemory(null); // storage is not allowed
  }
}

export function keepMemory(memory: Memory): void {
  try {
    localStorage.setItem(MEMORY_KEY, JSON.stringify(memory));
  } catch {
    // The memory lasts until the page is closed.
  }
}
