// SPDX-License-Identifier: MIT
// Reads the tensors of a safetensors file that the library wrote.

const TYPES = { F32: Float32Array, F64: Float64Array, I32: Int32Array, U8: Uint8Array, BOOL: Uint8Array };

/** Returns the tensors by name, and the metadata. */
export function readTensors(bytes) {
  const { buffer, byteOffset } = bytes;
  const length = Number(new DataView(buffer, byteOffset).getBigUint64(0, true));
  const { __metadata__: metadata = {}, ...list } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: offsets }] of Object.entries(list)) {
    const [begin, end] = offsets.map((at) => 8 + length + at);
    tensors[name] = { shape, values: new TYPES[dtype](bytes.slice(begin, end).buffer) };
  }
  return { tensors, metadata };
}
