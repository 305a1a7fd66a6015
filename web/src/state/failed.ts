// SPDX-License-Identifier: MIT
// The places that show errors, and the status after an error.

/** The places of the page that show an error. */
export type Place = 'engine' | 'network' | 'data' | 'training' | 'weights';

/** The status after an action of a place failed. */
export const FAILED: Record<Place, string> = {
  engine: 'The library is not loaded',
  network: 'Not a network: see the message at Network',
  data: 'No new data: see the message at Data',
  training: 'Training has stopped',
  weights: 'No weights loaded or saved: see the message at Weights',
};

export const CANCELLED = new DOMException('Loading data was cancelled', 'AbortError');
