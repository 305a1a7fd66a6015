// SPDX-License-Identifier: MIT
// Reads MNIST's files: IDX, packed or not.

export interface IdxArray {
  shape: number[];
  values: Uint8Array<ArrayBuffer>;
}

const BYTES = 8; // the type of MNIST's files

/** Reads an IDX file of bytes. `name` is for errors. */
export function readIdx(bytes: Uint8Array<ArrayBuffer>, name: string): IdxArray {
  const wrong = (what: string) => new Error(`[mnist] ${name} ${what}`);
  if (bytes.length < 4 || bytes[0] !== 0 || bytes[1] !== 0 || bytes[2] !== BYTES)
    throw wrong('is no IDX file of bytes: select a file of MNIST');
  const rank = bytes[3],
    start = 4 + 4 * rank;
  if (bytes.length < start) throw wrong('ends in its header');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const shape = Array.from({ length: rank }, (_, i) => view.getUint32(4 + 4 * i));
  const size = shape.reduce((product, dim) => product * dim, 1);
  if (bytes.length - start !== size) throw wrong(`has ${bytes.length - start} bytes of values, expected ${size}`);
  return { shape, values: bytes.subarray(start) };
}

/** Unpacks gzip. Returns other bytes unchanged. */
export async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export interface Pictures {
  /** count x height x width bytes. */
  images: Uint8Array;
  labels: Int32Array;
  shape: [count: number, height: number, width: number];
}

/** The first pictures of a pair of files, at most `most`. */
export function picturesOf(images: IdxArray, labels: IdxArray, most: number): Pictures {
  const [count, height, width] = images.shape;
  if (images.shape.length !== 3 || labels.shape.length !== 1)
    throw new Error('[mnist] expected a file of pictures and a file of labels');
  if (labels.shape[0] !== count) throw new Error(`[mnist] expected ${count} labels, got ${labels.shape[0]}`);
  if (count < 2) throw new Error(`[mnist] expected two pictures or more, got ${count}`);
  const taken = Math.min(count, most);
  return {
    images: images.values.slice(0, taken * height * width),
    labels: Int32Array.from(labels.values.subarray(0, taken)),
    shape: [taken, height, width],
  };
}
