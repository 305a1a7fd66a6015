// SPDX-License-Identifier: MIT
// Delays between requests. They are random, so that pages that lost their coordinator together do not all return
// together.

const MAX_MILLISECONDS = 10_000;

/**
 * Returns a delay in milliseconds, up to a quarter more or less. It doubles with each failure in a row, up to about ten
 * seconds.
 */
export const backoffDelay = (milliseconds: number, failures: number): number =>
  Math.min(milliseconds * 2 ** failures, MAX_MILLISECONDS) * (0.75 + Math.random() / 2);
