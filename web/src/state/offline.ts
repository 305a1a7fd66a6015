// SPDX-License-Identifier: MIT
// Keeps the page for use offline by a service worker. Only the built page has one.
import { signal } from '@preact/signals';

export const offlineReady = signal(false);

export function registerOffline(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  navigator.serviceWorker
    .register('/sw.js')
    .then(() => navigator.serviceWorker.ready)
    .then(
      () => (offlineReady.value = true),
      () => undefined, // Without a service worker the page works, but only online.
    );
}
