// SPDX-License-Identifier: MIT
// A node's downloads of blobs, and its cache of module blobs, which evicts the oldest.

const silenceSeconds = 30; // a large blob on a slow link takes long, but its bytes keep coming
const cacheBytes = 64e6;
const busyMilliseconds = 1000; // before the next attempt, if this address makes too many connections (429)

/**
 * Downloads an address. There is no limit of the total time. Rejects if no byte arrives for `seconds`. Calls onBytes()
 * with the length of each part. If it throws, the download ends.
 */
export async function fetchBytes(address, { seconds = silenceSeconds, onBytes = () => {} } = {}) {
  const silence = new AbortController();
  let timer;
  const restartTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(
      () => silence.abort(new DOMException(`no bytes for ${seconds} s`, 'TimeoutError')),
      1000 * seconds,
    );
  };
  restartTimer();
  try {
    let response;
    while ((response = await fetch(address, { signal: silence.signal })).status === 429) {
      await new Promise((resolve) => setTimeout(resolve, busyMilliseconds));
      silence.signal.throwIfAborted();
    }
    if (!response.ok) throw new Error(`${address}: ${response.status}`);
    const parts = response.body.pipeThrough(
      new TransformStream({
        transform(part, out) {
          restartTimer();
          onBytes(part.length);
          out.enqueue(part);
        },
      }),
    );
    return new Uint8Array(await new Response(parts).arrayBuffer());
  } finally {
    clearTimeout(timer);
  }
}

/** Wraps load(hash) with a cache of `limit` bytes. A hash that is cached or being loaded is not loaded again. */
export function cacheBlobs(load, limit = cacheBytes) {
  const blobs = new Map(); // hash -> {loading, bytes}
  let bytes = 0;
  const evict = (hash) => {
    bytes -= blobs.get(hash).bytes;
    blobs.delete(hash);
  };
  const insert = (hash, blob) => {
    blobs.get(hash).bytes = blob.byteLength;
    bytes += blob.byteLength;
    for (const [oldest, { bytes: size }] of blobs) {
      if (bytes <= limit) break;
      if (size > 0) evict(oldest);
    }
  };
  return (hash) => {
    if (!blobs.has(hash)) {
      const loading = load(hash);
      blobs.set(hash, { loading, bytes: 0 });
      loading.then(
        (blob) => insert(hash, blob),
        () => evict(hash),
      );
    }
    return blobs.get(hash).loading;
  };
}
