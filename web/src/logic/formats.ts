// SPDX-License-Identifier: MIT
// Recognizes the formats that the page reads by a file's first bytes, as the library does.

export type Format = 'safetensors' | 'json' | 'onnx' | 'tar' | 'gzip' | 'idx';

/** Enough bytes for formatOf(). */
export const HEAD = 512;

const MOST_READ = 'safetensors, tar (also .gz), ONNX, or a network as JSON with weights';

/** The format of a file of `size` bytes that starts with `head`, or null if it is none of these. */
export function formatOf(head: Uint8Array, size: number): Format | null {
  const text = new TextDecoder('latin1').decode(head.subarray(0, HEAD));
  if (size > 8 && text[8] === '{') {
    const length = new DataView(head.buffer, head.byteOffset).getBigUint64(0, true);
    if (length <= size - 8) return 'safetensors';
  }
  if (/^(\xef\xbb\xbf)?\s*[[{]/.test(text)) return 'json';
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head[0] === 0 && head[1] === 0 && head[2] === 8 && (head[3] === 1 || head[3] === 3)) return 'idx';
  if (size >= HEAD && isTar(head)) return 'tar';
  // A model of ONNX starts with its version, a small number.
  if (head[0] === 8 && head[1] > 0 && head[1] < 64) return 'onnx';
  return null;
}

/** Whether the checksum in a tar header, an octal number, is right. */
function isTar(head: Uint8Array): boolean {
  const sum = head.subarray(0, HEAD).reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 32 : byte), 0);
  return parseInt(new TextDecoder('latin1').decode(head.subarray(148, 156)), 8) === sum;
}

const readFormat = async (file: Blob): Promise<Format | null> =>
  formatOf(new Uint8Array(await file.slice(0, HEAD).arrayBuffer()), file.size);

/** Returns the purpose of files that are dropped or opened together. Throws an error if the page reads none of them. */
export async function purposeOf(files: readonly File[]): Promise<'network' | 'weights' | 'data'> {
  if (files.length > 1) return 'data';
  const [file] = files,
    format = await readFormat(file);
  if (format === 'idx' || /ubyte|\.bin$/i.test(file.name)) return 'data';
  if (format === 'json' || format === 'onnx') return 'network';
  if (format) return 'weights';
  throw new Error(
    `[open] expected a network (JSON, ONNX), weights (safetensors, tar) or all files of MNIST or CIFAR-10, got ${file.name}`,
  );
}

/** Throws an error that names the formats if a file cannot contain weights. */
export async function checkWeights(file: Blob): Promise<void> {
  const format = await readFormat(file);
  if (format && format !== 'idx') return;
  throw new Error(
    `[weights] expected a file in a format that is read here: ${MOST_READ}; ` +
      `got ${file.size === 0 ? 'an empty file' : `${file.size.toLocaleString('en')} bytes of another format`}`,
  );
}
