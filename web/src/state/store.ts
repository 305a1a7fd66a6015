// SPDX-License-Identifier: MIT
// Stores the last training in the browser's IndexedDB.
import type { SavedTraining, Store } from './keeper';

const NAME = 'kaiseki',
  TABLE = 'training',
  KEY = 'last';

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
  return settled(request);
}

async function table(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  opened ??= open();
  return (await opened).transaction(TABLE, mode).objectStore(TABLE);
}

async function finished(change: (table: IDBObjectStore) => void): Promise<void> {
  const store = await table('readwrite');
  change(store);
  await new Promise<void>((resolve, reject) => {
    store.transaction.oncomplete = () => resolve();
    store.transaction.onabort = () => reject(store.transaction.error);
  });
}

export const browserStore: Store = {
  read: async () => settled<SavedTraining | undefined>((await table('readonly')).get(KEY)),
  write: (training) => finished((store) => store.put(training, KEY)),
  clear: () => finished((store) => store.delete(KEY)),
};

/** Stores nothing. */
export const noStore: Store = {
  read: async () => undefined,
  write: async () => undefined,
  clear: async () => undefined,
};
