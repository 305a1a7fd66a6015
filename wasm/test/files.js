// SPDX-License-Identifier: MIT
// Builds small data set files.
import { deflateSync } from 'node:zlib';

/** An IDX file of unsigned bytes. */
export function idx(shape, bytes) {
  const file = new Uint8Array(4 + 4 * shape.length + bytes.length),
    view = new DataView(file.buffer);
  file.set([0, 0, 8, shape.length]);
  shape.forEach((dim, i) => view.setUint32(4 + 4 * i, dim));
  file.set(bytes, 4 + 4 * shape.length);
  return file;
}

/** `count` pictures and labels as MNIST's two files. */
export function mnist(count, [height, width] = [28, 28]) {
  const pixels = Uint8Array.from({ length: count * height * width }, (_, i) => (i * 31) % 251);
  const labels = Uint8Array.from({ length: count }, (_, i) => (i * 7) % 10);
  return { pixels, labels, images: idx([count, height, width], pixels), classes: idx([count], labels) };
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]),
    ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

/** Pixels [height, width, 3] as PNG. */
export function png(width, height, pixels) {
  const head = Buffer.alloc(13),
    rows = Buffer.alloc(height * (3 * width + 1));
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  for (let y = 0; y < height; ++y)
    rows.set(pixels.subarray(3 * width * y, 3 * width * (y + 1)), y * (3 * width + 1) + 1);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return new Uint8Array(
    Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]),
  );
}
