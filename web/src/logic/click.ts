// SPDX-License-Identifier: MIT
// Detects accidental clicks.

const MILLISECONDS = 500;

/**
 * Whether a click is part of a double click or comes from a held key. `milliseconds` is the time since the last click.
 */
export const isRepeatedClick = (detail: number, milliseconds: number): boolean =>
  detail > 1 || milliseconds < MILLISECONDS;
