// SPDX-License-Identifier: MIT
// The networks that the page offers, and the learning rate with which each learns well by momentum.
import cifar from '../../../models/cifar.json?raw';
import lenet from '../../../models/lenet-dag.json?raw';

export interface Choice {
  id: string;
  title: string;
  about: string;
  json: string;
  learningRate: number;
}

const MLP = `{
  "name": "mlp",
  "inputs": {"image": {"shape": [1, 28, 28]}},
  "layers": [
    {"name": "hidden", "type": "fully_connected", "output_size": 64},
    {"name": "bend", "type": "relu"},
    {"name": "classes", "type": "fully_connected", "output_size": 10},
    {"name": "loss", "type": "softmax_cross_entropy"}
  ]
}
`;

export const CHOICES: readonly Choice[] = [
  { id: 'lenet', title: 'LeNet', about: 'Two convolutions. The classic for digits.', json: lenet, learningRate: 0.01 },
  { id: 'mlp', title: 'Small MLP', about: 'One hidden layer. Learns in seconds.', json: MLP, learningRate: 0.05 },
  { id: 'cifar', title: 'CIFAR net', about: 'Three convolutions, 32 × 32 in colour.', json: cifar, learningRate: 0.01 },
];
