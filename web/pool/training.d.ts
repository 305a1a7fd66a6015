// SPDX-License-Identifier: MIT

/** The function of tickets that are training. */
export const trainingFunction: string;
