// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { layout } from '../src/logic/layout';

const layer = (name: string, ...inputs: string[]) => ({ name, type: 'relu', inputs });

test('places a chain in a row', () => {
  const { nodes, edges, columns, rows } = layout([layer('x'), layer('a', 'x'), layer('b', 'a')]);
  expect(nodes.map(({ column, row }) => [column, row])).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
  ]);
  expect([edges.length, columns, rows]).toEqual([2, 3, 1]);
});

test('places branches below each other, and their join right of the longest', () => {
  const { nodes, edges } = layout([
    layer('x'),
    layer('a', 'x'),
    layer('b', 'x'),
    layer('c', 'b'),
    layer('sum', 'a', 'c'),
  ]);
  expect(nodes.map(({ column, row }) => [column, row])).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
    [2, 0],
    [3, 0],
  ]);
  expect(edges.length).toBe(5);
});

test('gives each layer of GoogLeNet its own place, and every line goes right', () => {
  const json = JSON.parse(readFileSync(new URL('../../models/googlenet.json', import.meta.url), 'utf8'));
  const layers = json.layers.map((one: { name: string; type: string; inputs?: string | string[] }, i: number) => ({
    name: one.name,
    type: one.type,
    inputs: [one.inputs ?? json.layers[i - 1]?.name ?? []].flat(),
  }));
  const { nodes, edges, rows } = layout(layers);
  expect(new Set(nodes.map(({ column, row }) => `${column},${row}`)).size).toBe(layers.length);
  expect(edges.every(({ from, to }) => from.column < to.column)).toBe(true);
  expect(rows).toBeGreaterThan(3);
});
