// SPDX-License-Identifier: MIT
import type { LayerSummary } from 'kaiseki';
import type { ComponentChildren, VNode } from 'preact';
import { expect, test } from 'vitest';
import { Diagram } from '../src/parts/diagram';
import type { Session } from '../src/state/session';

/** The diagram of a chain of layers, as text. */
function diagram(count: number): string {
  const layers = Array.from({ length: count }, (_, i): LayerSummary => ({
    name: `layer${i}`,
    type: 'relu',
    shape: [4, 2, 2],
    parameters: 1,
    multiplyAdds: 0,
    operations: 0,
  }));
  const json = { inputs: { x: { shape: [4, 2, 2] } }, layers: layers.map(({ name, type }) => ({ name, type })) };
  const inspector = { chosen: { value: '' }, layer: { value: layers[0] }, layers: { value: layers } };
  return text(Diagram({ session: { network: { value: { json, layers } }, inspector } as unknown as Session }));
}

function text(node: ComponentChildren): string {
  if (Array.isArray(node)) return node.map(text).join('');
  if (typeof node !== 'object' || !node) return String(node ?? '');
  const { type, props } = node as VNode<{ children?: ComponentChildren }>;
  return `<${typeof type === 'string' ? type : type.name}>${text(props.children)}`;
}

test('draws a box and a line for each of some hundred layers', () => {
  const found = diagram(500);
  expect([found.match(/<Box>/g)!.length, found.match(/<path>/g)!.length]).toEqual([501, 500]);
});

test('only counts thousands of layers', () => {
  expect(diagram(10_000)).toMatch(
    /<p>10k weights; 10,000 layers are too many for a diagram; select a layer in the list next to Activations$/,
  );
});
