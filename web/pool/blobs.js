// SPDX-License-Identifier: MIT
// Blobs that a node fetches; of those for modules the newest stay, up to a number of bytes.

const silentSeconds = 30; // on a slow link a large blob takes long, but some of it comes all the time
const keptBytes = 64e6;

/** The bytes at an address, however long they take; rejects when none comes for so long. */
export async function fetchBytes(address, seconds = silentSeconds) {
  const silence = new AbortController();
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(new DOMException(`no bytes for ${seconds} s`, 'TimeoutError')), 1000 * seconds);
  };
  heard();
  try {
    const response = await fetch(address, {signal: silence.signal});
    if (!response.ok) throw new Error(`${address}: ${response.status}`);
    const parts = response.body.pipeThrough(new TransformStream({transform(part, out) {
      heard();
      out.enqueue(part);
    }}));
    return new Uint8Array(await new Response(parts).arrayBuffer());
  } finally {
    clearTimeout(timer);
  }
}

/** load(hash) as a function that asks for nothing twice while it keeps it, or while it is on its way. */
export function keepBlobs(load, most = keptBytes) {
  const blobs = new Map(); // hash -> {loading, bytes}
  let bytes = 0;
  const forget = (hash) => {
    bytes -= blobs.get(hash).bytes;
    blobs.delete(hash);
  };
  const keep = (hash, blob) => {
    blobs.get(hash).bytes = blob.byteLength;
    bytes += blob.byteLength;
    for (const [oldest, {bytes: size}] of blobs) {
      if (bytes <= most) break;
      if (size > 0) forget(oldest);
    }
  };
  return (hash) => {
    if (!blobs.has(hash)) {
      const loading = load(hash);
      blobs.set(hash, {loading, bytes: 0});
      loading.then((blob) => keep(hash, blob), () => forget(hash));
    }
    return blobs.get(hash).loading;
  };
}
