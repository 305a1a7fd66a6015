// SPDX-License-Identifier: MIT
// Blobs that a node fetched for modules: the newest stay, up to a number of bytes.

export const fetchSeconds = 120; // of one blob, at most
const keptBytes = 64e6;

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
