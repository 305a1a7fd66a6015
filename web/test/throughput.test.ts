// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { Throughput } from '../src/console/throughput';

const task = (id: number, done: number, code = '') => ({ task: id, function: code, done, dead: 0 });

test('is steady while training deletes its tickets', () => {
  const meter = new Throughput();
  const totals: number[] = [],
    ofTask: number[] = [];
  for (let poll = 0; poll <= 20; ++poll) {
    const { total, byTask } = meter.add(2 * poll, 40 * poll, [task(1, poll % 2 ? 3 : 1, 'kaiseki.train')]);
    totals.push(total);
    ofTask.push(byTask[1]);
  }
  expect(totals.slice(1)).toEqual(Array(20).fill(20));
  expect(ofTask.slice(1)).toEqual(Array(20).fill(20));
});

test('counts tasks that keep their tickets by themselves, and gives the rest to the one that deletes them', () => {
  const meter = new Throughput();
  for (let poll = 0; poll < 8; ++poll) {
    const { total, byTask } = meter.add(2 * poll, 1000 + 50 * poll, [task(1, 10 * poll), task(2, poll % 2)]);
    if (poll < 3) continue;
    expect(total).toBe(25);
    expect(byTask[1]).toBe(5);
    if (poll > 6) expect(byTask[2]).toBeCloseTo(20, -1);
  }
});

test('has no rate for tasks that it cannot tell apart', () => {
  const meter = new Throughput();
  const both = [task(1, 5, 'kaiseki.train'), task(2, 5, 'kaiseki.train')];
  meter.add(0, 0, both);
  expect(meter.add(2, 10, both)).toEqual({ total: 5, byTask: {} });
});

test('continues after a restart of the coordinator, and counts a task that appears', () => {
  const meter = new Throughput();
  meter.add(0, 1000, [task(1, 50)]);
  meter.add(2, 1010, [task(1, 60)]);
  expect(meter.add(4, 10, [task(1, 60), task(2, 10)])).toEqual({ total: 5, byTask: { 1: 2.5, 2: 0 } });
});
