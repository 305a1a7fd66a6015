// SPDX-License-Identifier: MIT
// Tasks in WebAssembly (docs/samples.md). The module has no imports. It exports memory, allocate(bytes) and
// calculate(at, bytes, blobs, count). calculate returns the address of a 32-bit length, followed by the result. At
// `blobs` are the address and the length of each blob, 32 bits each.

import { checkMemory } from './wasm_memory.js';

const magic = [0x00, 0x61, 0x73, 0x6d];

export const isWasm = (code) => magic.every((byte, i) => code[i] === byte);

/** `most`: the bytes of memory that the module may take. */
export async function loadWasm(code, most) {
  const module = await WebAssembly.compile(code);
  if (WebAssembly.Module.imports(module).length > 0) throw new Error('expected a WebAssembly module without imports');
  checkMemory(code, most);
  const task = (input, blobs) => {
    const { memory, allocate, calculate } = new WebAssembly.Instance(module, {}).exports;
    const put = (bytes) => {
      const at = allocate(bytes.length) >>> 0;
      new Uint8Array(memory.buffer).set(bytes, at);
      return at;
    };
    const at = put(input),
      list = new DataView(new ArrayBuffer(8 * blobs.length));
    blobs.forEach((blob, i) => {
      list.setUint32(8 * i, put(blob), true);
      list.setUint32(8 * i + 4, blob.length, true);
    });
    const result = calculate(at, input.length, put(new Uint8Array(list.buffer)), blobs.length) >>> 0;
    const length = new DataView(memory.buffer).getUint32(result, true);
    task.used = memory.buffer.byteLength;
    return new Uint8Array(memory.buffer, result + 4, length).slice();
  };
  task.used = 0;
  return task;
}
