// SPDX-License-Identifier: MIT
// One tab of a browser computes: the one that holds a lock. The others wait for it.

const NAME = 'kaiseki.volunteer';

/** Whether the browser can tell the tabs apart. Without locks, every tab computes. */
export const hasLocks = (): boolean => Boolean(navigator.locks);

/**
 * Waits until no other tab computes. Returns a function that lets another tab compute, or null if `signal` was aborted.
 * If another tab computes now, calls `follow` first.
 */
export async function lead(signal: AbortSignal, follow: () => void): Promise<(() => void) | null> {
  if (!hasLocks()) return () => {};
  const ask = (options: LockOptions) =>
    new Promise<(() => void) | null>((resolve) => {
      navigator.locks
        .request(NAME, options, (lock) => {
          if (!lock) return resolve(null);
          return new Promise<void>((release) => resolve(release));
        })
        .catch(() => resolve(null));
    });
  const leads = await ask({ ifAvailable: true });
  if (leads || signal.aborted) return leads;
  follow();
  return ask({ signal });
}

/** Tells the other tabs to stop, and calls `stop` when another tab tells it. */
export class Tabs {
  #channel = typeof BroadcastChannel === 'undefined' || !hasLocks() ? null : new BroadcastChannel(NAME);

  constructor(stop: () => void) {
    if (this.#channel) this.#channel.onmessage = ({ data }) => data === 'stop' && stop();
  }

  stop(): void {
    this.#channel?.postMessage('stop');
  }
}
