// SPDX-License-Identifier: MIT
// The bytes of files: given, or fetched with progress. gzip is unpacked.
import { KaisekiError, expect } from './error.js';

/** The most bytes of a file, and the most to which any file may be unpacked, whatever its size. */
export const FILE_LIMIT = 2 ** 30,
  SMALL_FILE = 2 ** 26;

/** A larger file may be unpacked to this many times its size. Deflate reaches 1032. Pictures reach about 10. */
const MOST_RATIO = 32;

/** Reads a whole stream. `onChunk` gets the length of each part. The stream is cancelled if `signal` aborts. */
async function collect(stream, what, limit, signal, onChunk = () => {}) {
  const parts = [],
    reader = stream.getReader();
  let size = 0;
  const cancel = () => reader.cancel().catch(() => {}); // read() reports the stream's error
  signal.addEventListener('abort', cancel);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return concatenate(parts, size);
      size += value.length;
      if (size > limit) throw new KaisekiError('Error', `[data] more than ${limit} ${what}`);
      parts.push(value);
      onChunk(value.length);
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

function concatenate(parts, size) {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

async function gunzip(bytes, name, mostUnpacked, signal) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const limit = Math.min(mostUnpacked, Math.max(SMALL_FILE, MOST_RATIO * bytes.length));
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return await collect(stream, `unpacked bytes of ${name}`, limit, signal);
  } catch (error) {
    if (error instanceof KaisekiError || signal.aborted) throw error;
    throw new KaisekiError('ParseError', `[data] damaged gzip data in ${name}: ${error.message}`);
  }
}

/** Reads all sources. The total is 0 if the length of one is unknown. */
async function read(sources, mostUnpacked, signal, onProgress) {
  let loaded = 0,
    total = 0,
    known = true;
  const opened = await Promise.all(
    sources.map(async (source) => {
      // shared memory is copied
      if (source instanceof Uint8Array) return source.buffer instanceof ArrayBuffer ? source : new Uint8Array(source);
      if (source instanceof ArrayBuffer) return new Uint8Array(source);
      if (source instanceof Blob) {
        total += source.size;
        return { name: 'a blob', stream: source.stream() };
      }
      expect(typeof source === 'string', 'data', 'an address, a Blob, an ArrayBuffer or a Uint8Array', source);
      const response = await fetch(source, { signal });
      expect(response.ok, 'data', `the file ${source}`, `${response.status} ${response.statusText}`);
      const length = response.headers.get('content-encoding') ? 0 : Number(response.headers.get('content-length'));
      known &&= length > 0;
      total += length;
      return { name: source, stream: response.body };
    }),
  );
  return Promise.all(
    opened.map(async (file) => {
      if (file instanceof Uint8Array) return gunzip(file, 'an array', mostUnpacked, signal);
      const bytes = await collect(file.stream, `bytes of ${file.name}`, FILE_LIMIT, signal, (length) =>
        onProgress({ loaded: (loaded += length), total: known ? total : 0 }),
      );
      return gunzip(bytes, file.name, mostUnpacked, signal);
    }),
  );
}

/**
 * Reads all sources or none: the first failure cancels the others. A packed file is refused above `mostUnpacked` bytes,
 * and earlier if it is much smaller than its contents.
 */
export async function readSources(sources, mostUnpacked, signal, onProgress) {
  const stop = new AbortController(),
    abort = () => stop.abort();
  signal.addEventListener('abort', abort);
  try {
    return await read(sources, mostUnpacked, stop.signal, onProgress);
  } finally {
    abort();
  }
}
