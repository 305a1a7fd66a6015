// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { addBytes, freeAt, leftBytes, readParts, type Part } from '../src/volunteer/traffic';

const MINUTE = 60_000,
  HOUR = 60 * MINUTE,
  LIMITS = { megabytesAnHour: 200, megabytesADay: 1000 };

/** A node that uses `bytes` each minute whenever the limits allow it. Returns the time and the bytes of each use. */
function used(bytes: number, hours: number) {
  const uses: [number, number][] = [];
  let parts: Part[] = [];
  for (let now = 7 * MINUTE; now < hours * HOUR; now += MINUTE)
    if (leftBytes(parts, LIMITS, now) >= bytes) {
      parts = addBytes(parts, bytes, now);
      uses.push([now, bytes]);
    }
  return uses;
}

test('no hour and no day has more bytes than its limit', () => {
  const uses = used(9e6, 72);
  const within = (span: number) =>
    Math.max(
      ...uses.map(([end]) => uses.reduce((sum, [at, bytes]) => sum + (at <= end && at > end - span ? bytes : 0), 0)),
    );
  expect(within(HOUR)).toBeLessThanOrEqual(200e6);
  expect(within(HOUR)).toBeGreaterThan(190e6);
  expect(within(24 * HOUR)).toBeLessThanOrEqual(1000e6);
  expect(within(24 * HOUR)).toBeGreaterThan(990e6);
});

test('says when bytes may flow again', () => {
  const now = 1000 * HOUR + 3 * MINUTE;
  const parts = addBytes([], 199e6, now);
  expect(freeAt(parts, LIMITS, 1e5, now)).toBe(now);
  expect(freeAt(parts, LIMITS, 2e6, now)).toBe(1000 * HOUR + 70 * MINUTE);
  expect(freeAt(addBytes([], 999e6, now), LIMITS, 2e6, now)).toBe(1000 * HOUR + 24 * HOUR + 10 * MINUTE);
  expect(leftBytes(parts, LIMITS, 1000 * HOUR + 70 * MINUTE)).toBe(200e6);
});

test('a clock that is set back takes no part out of the count', () => {
  const parts = addBytes([], 5e6, 1000 * HOUR);
  const back = addBytes(parts, 1e6, 900 * HOUR);
  expect(leftBytes(back, LIMITS, 900 * HOUR)).toBe(194e6);
  expect(leftBytes(back, LIMITS, 902 * HOUR)).toBe(200e6);
});

test.each([null, 7, 'x', [null, 3, { start: -1, bytes: 2 }, { start: 5 }]])('ignores invalid parts: %j', (given) =>
  expect(readParts(given)).toEqual([]),
);
