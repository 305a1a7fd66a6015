// SPDX-License-Identifier: MIT
// The bytes that this browser sent and received for a coordinator, and the bytes that it may still use. They are counted
// in parts of ten minutes. A part counts as a whole until all of it is over, so no hour or day exceeds its limit.

export interface Part {
  /** Milliseconds since 1970, a multiple of PART. */
  start: number;
  bytes: number;
}
export interface TrafficLimits {
  megabytesAnHour: number;
  megabytesADay: number;
}

const PART = 600_000,
  HOUR = 3_600_000,
  DAY = 24 * HOUR;

const counted = (part: Part, span: number, now: number): boolean => part.start + PART > now - span;

/** Adds bytes, and drops parts that are over. A clock that was set back has no parts in the future. */
export function addBytes(parts: readonly Part[], bytes: number, now: number): Part[] {
  const start = now - (now % PART);
  const kept = parts
    .filter((part) => counted(part, DAY, now))
    .map((part) => ({ ...part, start: Math.min(part.start, start) }));
  const last = kept.at(-1);
  if (last?.start === start) last.bytes += bytes;
  else kept.push({ start, bytes });
  return kept;
}

const used = (parts: readonly Part[], span: number, now: number): number =>
  parts.reduce((sum, part) => sum + (counted(part, span, now) ? part.bytes : 0), 0);

/** The bytes that may still be sent or received now. */
export const leftBytes = (parts: readonly Part[], limits: TrafficLimits, now: number): number =>
  Math.min(1e6 * limits.megabytesAnHour - used(parts, HOUR, now), 1e6 * limits.megabytesADay - used(parts, DAY, now));

/** The time at which more than `bytes` are left, in milliseconds since 1970: now, or when enough parts have ended. */
export function freeAt(parts: readonly Part[], limits: TrafficLimits, bytes: number, now: number): number {
  const ends = parts.flatMap(({ start }) => [start + PART + HOUR, start + PART + DAY]).filter((end) => end > now);
  return [now, ...ends.sort((a, b) => a - b)].find((at) => leftBytes(parts, limits, at) > bytes) ?? Infinity;
}

/** Reads stored parts. Invalid ones are dropped. */
export const readParts = (given: unknown): Part[] =>
  (Array.isArray(given) ? given : [])
    .map((one) => Object(one) as Part)
    .filter(({ start, bytes }) => start >= 0 && bytes >= 0)
    .map(({ start, bytes }) => ({ start, bytes }));
