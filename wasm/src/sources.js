// SPDX-License-Identifier: MIT
// The bytes of files: given, or fetched with progress. gzip is gunzip.
import { KaisekiError, expect } from './error.js';

const LIMIT = 2 ** 30;

/** Reads a whole stream. `onChunk` gets the length of each part. */
async function collect(stream, name, onChunk = () => {}) {
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > LIMIT) {
      reader.cancel();
      throw new KaisekiError('Error', `[data] expected at most ${LIMIT} bytes of ${name}, got more`);
    }
    parts.push(value);
    onChunk(value.length);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

async function gunzip(bytes, name) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return await collect(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')), name);
  } catch (error) {
    if (error instanceof KaisekiError) throw error;
    throw new KaisekiError('ParseError', `[data] damaged gzip file ${name}: ${error.message}`);
  }
}

/** Reads all sources. The total is 0 if the length of one is unknown. */
async function read(sources, signal, onProgress) {
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
      if (file instanceof Uint8Array) return gunzip(file, 'bytes');
      return gunzip(
        await collect(file.stream, file.name, (length) => {
          signal.throwIfAborted();
          onProgress({ loaded: (loaded += length), total: known ? total : 0 });
        }),
        file.name,
      );
    }),
  );
}

/** Reads all sources or none: the first failure cancels the others. */
export async function readSources(sources, signal, onProgress) {
  const stop = new AbortController(),
    abort = () => stop.abort();
  signal.addEventListener('abort', abort);
  try {
    return await read(sources, stop.signal, onProgress);
  } finally {
    abort();
  }
}
