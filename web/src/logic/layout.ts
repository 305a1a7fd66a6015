// SPDX-License-Identifier: MIT
// Places a network's layers in a diagram. The column is the longest path from the input, the row is the order in the
// column.

export interface Layer {
  name: string;
  type: string;
  inputs: readonly string[];
}

export interface Placed<T extends Layer> {
  layer: T;
  column: number;
  row: number;
}

export interface Layout<T extends Layer> {
  nodes: Placed<T>[];
  edges: { from: Placed<T>; to: Placed<T> }[];
  columns: number;
  rows: number;
}

export function layout<T extends Layer>(layers: readonly T[]): Layout<T> {
  const placed = new Map<string, Placed<T>>();
  const used: number[] = [];
  const edges: Layout<T>['edges'] = [];
  for (const layer of layers) {
    const from = layer.inputs.map((name) => placed.get(name)).filter((node) => node !== undefined);
    const column = Math.max(-1, ...from.map((node) => node.column)) + 1;
    const node = { layer, column, row: used[column] ?? 0 };
    used[column] = node.row + 1;
    placed.set(layer.name, node);
    edges.push(...from.map((other) => ({ from: other, to: node })));
  }
  return { nodes: [...placed.values()], edges, columns: used.length, rows: Math.max(0, ...used) };
}
