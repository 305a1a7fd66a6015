// SPDX-License-Identifier: MIT
// Keeps the page for use without a network: a service worker, in the built page, where there may be one.
import { signal } from '@preact/signals';

export const offlineReady = signal(false);

export function registerOffline(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(
    () => (offlineReady.value = true),
    () => undefined,  // The page works without it, while there is a network.
  );
}
