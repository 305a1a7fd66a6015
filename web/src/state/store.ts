// SPDX-License-Identifier: MIT
// Stores trainings in the browser's IndexedDB: one record for each open tab. A tab holds a Web Lock on its record, so
// that no other tab reads or overwrites it. A new tab takes over the newest record without a tab.
import type { SavedTraining, Store } from './keeper';

const NAME = 'kaiseki',
  TABLE = 'trainings';

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 2);
  request.onupgradeneeded = () => {
    for (const name of request.result.objectStoreNames) request.result.deleteObjectStore(name);
    request.result.createObjectStore(TABLE);
  };
  // A tab with an older version of the page keeps the database open.
  const blocked = new Promise<never>((_, reject) => (request.onblocked = () => reject(new Error('blocked'))));
  return Promise.race([settled(request), blocked]);
}

/** Takes the lock of a record until this tab is closed. Returns false if another tab holds it. */
const hold = (key: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const kept = navigator.locks.request(`kaiseki.training.${key}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise<never>(() => {});
    });
    kept.catch(reject);
  });

/** A browser without Web Locks has one record for all tabs. */
const SHARED = 'shared';

export class BrowserStore implements Store {
  #opened: Promise<IDBDatabase> | undefined;
  #key: Promise<string> | undefined;

  async read(): Promise<SavedTraining | undefined> {
    const key = await (this.#key ??= this.#takeKey());
    return settled<SavedTraining | undefined>((await this.#table('readonly')).get(key));
  }
  write(training: SavedTraining): Promise<void> {
    return this.#change((table, key) => table.put(training, key));
  }
  clear(): Promise<void> {
    return this.#change((table, key) => table.delete(key));
  }

  async #table(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    this.#opened ??= open();
    return (await this.#opened).transaction(TABLE, mode).objectStore(TABLE);
  }

  /** Takes over the newest record without a tab, or makes the key of a new record. */
  async #takeKey(): Promise<string> {
    if (!navigator.locks) return SHARED;
    const table = await this.#table('readonly');
    const [keys, all] = await Promise.all([
      settled(table.getAllKeys() as IDBRequest<string[]>),
      settled(table.getAll() as IDBRequest<SavedTraining[]>),
    ]);
    const newest = keys.map((key, i) => ({ key, at: all[i].savedAt })).sort((a, b) => b.at - a.at);
    for (const { key } of newest) if (await hold(key)) return key;
    const key = `${Date.now()}-${Math.random()}`;
    await hold(key);
    return key;
  }

  async #change(change: (table: IDBObjectStore, key: string) => void): Promise<void> {
    const key = await (this.#key ??= this.#takeKey()),
      table = await this.#table('readwrite');
    change(table, key);
    await new Promise<void>((resolve, reject) => {
      table.transaction.oncomplete = () => resolve();
      table.transaction.onabort = () => reject(table.transaction.error);
    });
  }
}

/** Stores nothing. */
export const noStore: Store = {
  read: async () => undefined,
  write: async () => undefined,
  clear: async () => undefined,
};
