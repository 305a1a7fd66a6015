// SPDX-License-Identifier: MIT
// What a task's calculate() gives, as bytes of its own.

const encoder = new TextEncoder();

export function bytesOf(value) {
  if (typeof value === 'string') return encoder.encode(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  throw new Error('expected calculate to give a text or bytes');
}
