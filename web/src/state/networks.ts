// SPDX-License-Identifier: MIT
// The networks that the page offers. Their recipes are the page's defaults.
import type { Network } from 'kaiseki';
import { compact } from '../logic/format';
import cifar from '../../../models/cifar.json?raw';
import lenet from '../../../models/lenet-dag.json?raw';

export interface Choice {
  id: string;
  title: string;
  about: string;
  json: string;
}

const MLP = `{
  "name": "mlp",
  "inputs": {"image": {"shape": [1, 28, 28]}},
  "layers": [
    {"name": "hidden", "type": "fully_connected", "output_size": 64},
    {"name": "bend", "type": "relu"},
    {"name": "classes", "type": "fully_connected", "output_size": 10},
    {"name": "loss", "type": "softmax_cross_entropy"}
  ],
  "recipe": {"batch_size": 50, "optimizer": "momentum", "learning_rate": 0.05}
}
`;

export const CHOICES: readonly Choice[] = [
  { id: 'lenet', title: 'LeNet', about: 'Two convolutions. The standard network for digits.', json: lenet },
  { id: 'mlp', title: 'Small MLP', about: 'One hidden layer. Learns in seconds.', json: MLP },
  { id: 'cifar', title: 'CIFAR net', about: 'Three convolutions, 32 × 32 in color.', json: cifar },
];

/**
 * The most operations for a picture. With more, a step takes minutes, and the worker answers only between steps.
 * VGG-16 has 15G.
 */
const MAX_OPERATIONS = 1e11;

/** Throws if the network is too large for the page. */
export function checkWork({ layers }: Network): void {
  const work = layers.reduce((sum, { operations }) => sum + operations, 0);
  if (work <= MAX_OPERATIONS) return;
  throw new Error(
    `[network] expected at most ${compact(MAX_OPERATIONS)} operations for a picture, because the page waits for ` +
      `every step, got ${compact(work)}: use smaller pictures or layers, or train with the command kaiseki`,
  );
}
