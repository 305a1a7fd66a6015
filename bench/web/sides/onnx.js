// SPDX-License-Identifier: MIT
// Writes ONNX files of a few nodes. A node is [operator, inputs, output]. Shapes are given by name.
const encoder = new TextEncoder();

function varint(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value];
}
const number = (field, value) => [...varint(field << 3), ...varint(value)];
const part = (field, bytes) => [...varint((field << 3) | 2), ...varint(bytes.length), ...bytes];
const text = (field, value) => part(field, encoder.encode(value));

function value(field, name, shape) {
  const dimensions = shape.flatMap((length) => part(1, number(1, length)));
  return part(field, [...text(1, name), ...part(2, part(1, [...number(1, 1), ...part(2, dimensions)]))]);
}

export function onnx(nodes, inputs, outputs) {
  const graph = [
    ...nodes.flatMap(([operator, from, to]) =>
      part(1, [...from.flatMap((name) => text(1, name)), ...text(2, to), ...text(4, operator)]),
    ),
    ...text(2, 'task'),
    ...Object.entries(inputs).flatMap(([name, shape]) => value(11, name, shape)),
    ...Object.entries(outputs).flatMap(([name, shape]) => value(12, name, shape)),
  ];
  return new Uint8Array([...number(1, 7), ...part(7, graph), ...part(8, [...text(1, ''), ...number(2, 13)])]);
}
