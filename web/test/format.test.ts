// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { ago, bytes, compact, count, duration, percent, plural, rate, shapeText } from '../src/logic/format';

test.each([
  [0, '0:00'],
  [7.9, '0:07'],
  [754, '12:34'],
  [3723, '1:02:03'],
])('duration %d', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1k'],
  [4300, '4.3k'],
  [431080, '431k'],
  [999700, '1M'],
  [61e6, '61M'],
  [2e9, '2G'],
])('compact %d', (value, text) => expect(compact(value)).toBe(text));

test.each([
  [0, '0.0 kB'],
  [1234, '1.2 kB'],
  [123_456, '123 kB'],
  [999_400, '999 kB'],
  [999_600, '1.00 MB'],
  [4_560_000, '4.56 MB'],
  [7.89e9, '7.89 GB'],
])('bytes %d', (value, text) => expect(bytes(value)).toBe(text));

test.each([
  [0, 'just now'],
  [12.9, '12 s ago'],
  [300, '5 min ago'],
  [7300, '2 h ago'],
  [90_000, '1 day ago'],
  [200_000, '2 days ago'],
])('ago %d', (seconds, text) => expect(ago(seconds)).toBe(text));

test('the rest', () => {
  expect(count(12345.4)).toBe('12,345');
  expect(percent(0.9534)).toBe('95.3%');
  expect(percent(NaN)).toBe('–');
  expect(plural(1, 'thread')).toBe('1 thread');
  expect(plural(2, 'thread')).toBe('2 threads');
  expect(rate(0.0501187)).toBe('0.05');
  expect(rate(0.00012589)).toBe('0.00013');
  expect(shapeText([1, 28, 28])).toBe('1 × 28 × 28');
});
