// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { LONGEST_NAME, readSettings } from '../src/volunteer/settings';

test('defaults to half of the cores, all of the time, not on battery', () => {
  expect(readSettings(null, 8)).toEqual({
    threads: 4,
    share: 100,
    whenHidden: true,
    onBattery: false,
    onMetered: false,
    megabytesAnHour: 200,
    megabytesADay: 1000,
    onlyUnused: false,
    name: '',
  });
  expect(readSettings(null, 1).threads).toBe(1);
});

test('keeps settings that are valid on this machine', () => {
  const chosen = {
    threads: 3,
    share: 45,
    whenHidden: false,
    onBattery: true,
    onMetered: true,
    megabytesAnHour: 50,
    megabytesADay: 5000,
    onlyUnused: true,
    name: 'me',
  };
  expect(readSettings(JSON.stringify(chosen), 4)).toEqual(chosen);
  expect(readSettings(JSON.stringify(chosen), 2).threads).toBe(1);
});

test.each([
  '',
  '{',
  'null',
  '[]',
  '7',
  '{"threads": -1, "share": 0, "name": 5, "onBattery": "yes", "whenHidden": 0, "megabytesAnHour": 0}',
])('ignores invalid settings: %s', (kept) => expect(readSettings(kept, 8)).toEqual(readSettings(null, 8)));

test('cuts a long name', () => {
  expect(readSettings(JSON.stringify({ name: 'x'.repeat(1000) }), 2).name).toHaveLength(LONGEST_NAME);
});
