// SPDX-License-Identifier: MIT
// When to ask again: pages that lost their coordinator at the same moment must not come back to it at the same moment.

const MOST = 10_000;

/** Milliseconds, a quarter more or less by chance; after failures in a row longer and longer, up to ten seconds or so. */
export const again = (milliseconds: number, failures: number): number =>
  Math.min(milliseconds * 2 ** failures, MOST) * (0.75 + Math.random() / 2);
