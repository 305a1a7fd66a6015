// SPDX-License-Identifier: MIT
// Presses that nobody meant.

const MILLISECONDS = 500;

/** Whether a click, so long after the one before, is the end of a double click or of a key held down. */
export const isAccident = (detail: number, milliseconds: number): boolean => detail > 1 || milliseconds < MILLISECONDS;
