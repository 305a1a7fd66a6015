// SPDX-License-Identifier: MIT
// Converts the result of a task's calculate() to a copy of its bytes.

const encoder = new TextEncoder();

export function resultBytes(value) {
  if (typeof value === 'string') return encoder.encode(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  throw new Error('expected calculate() to return a string or bytes');
}
