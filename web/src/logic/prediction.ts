// SPDX-License-Identifier: MIT
// The display of a network's output: as probabilities, or as numbers if the network does not end in a softmax.

/** The layers whose output, when the network predicts, is a probability for each class. */
const PROBABILITIES = ['softmax', 'softmax_cross_entropy'];

export const givesProbabilities = (layers: readonly { type: string }[]): boolean =>
  layers.length === 0 || PROBABILITIES.includes(layers[layers.length - 1].type);

/** Three significant digits: 0.123, -10.6, 1.2e+5 */
export function output(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  return size && (size < 0.001 || size >= 10_000) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

/** Lengths of bars in 0..1. The largest magnitude has 1, and negative values have 0. */
export function barLengths(values: ArrayLike<number>): number[] {
  const all = Array.from(values, (value) => (Number.isFinite(value) ? value : 0));
  const most = all.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return all.map((value) => (most ? Math.max(0, value) / most : 0));
}
