// SPDX-License-Identifier: MIT
// The service worker: caches all files of the build, so that the page loads and trains offline.
declare const __FILES__: string[];
declare const __VERSION__: string;
declare const self: ServiceWorkerGlobal;

interface Extended extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetched extends Extended {
  request: Request;
  respondWith(response: Promise<Response>): void;
}
interface ServiceWorkerGlobal {
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  addEventListener(type: 'install' | 'activate', body: (event: Extended) => void): void;
  addEventListener(type: 'fetch', body: (event: Fetched) => void): void;
}

const FILES = __FILES__;
const NAME = `kaiseki-${__VERSION__}`;
/** Asks the server whether the browser's cached file is still current. */
const fresh = (file: string) => new Request(file, { cache: 'no-cache' });

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(NAME)
      .then((cache) => cache.addAll(FILES.map(fresh)))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener('activate', (event) => {
  const forget = async () => {
    for (const name of await caches.keys()) if (name.startsWith('kaiseki-') && name !== NAME) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(forget());
});

/** Uses the network first, so that a new build is seen at once. Offline, uses the cache. */
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const file = pathname.replace(/\/index\.html$/, '/');
  if (request.method !== 'GET' || origin !== location.origin || !FILES.includes(file)) return;
  const cached = async () => (await caches.match(file)) ?? Response.error();
  event.respondWith(fetch(request).catch(cached));
});
export {};
