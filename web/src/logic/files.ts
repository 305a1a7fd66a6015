// SPDX-License-Identifier: MIT
// Recognizes a data set's files by the names that MNIST and CIFAR-10 use.

export interface Named {
  name: string;
}

export type Sorted<T> =
  | { kind: 'mnist'; train: { images: T; labels: T }; test: { images: T; labels: T } }
  | { kind: 'cifar10'; train: T[]; test: T[] };

export const MNIST_FILES = [
  'train-images-idx3-ubyte',
  'train-labels-idx1-ubyte',
  't10k-images-idx3-ubyte',
  't10k-labels-idx1-ubyte',
];

export function sortFiles<T extends Named>(files: readonly T[]): Sorted<T> {
  const batches = files.filter((file) => /data_batch_\d.*\.bin$/i.test(file.name));
  const test = files.filter((file) => /test_batch.*\.bin$/i.test(file.name));
  const names = files.map((file) => file.name).join(', ') || 'none';
  if (batches.length || test.length) {
    if (batches.length && test.length)
      return { kind: 'cifar10', train: batches.sort((a, b) => a.name.localeCompare(b.name)), test };
    throw new Error(`[data] expected data_batch_1.bin (to 5) and test_batch.bin, got ${names}`);
  }
  const find = (set: RegExp, what: RegExp) => files.find((file) => set.test(file.name) && what.test(file.name));
  const found = [
    find(/^train/i, /images/i),
    find(/^train/i, /labels/i),
    find(/^(t10k|test)/i, /images/i),
    find(/^(t10k|test)/i, /labels/i),
  ];
  const missing = MNIST_FILES.filter((_, i) => !found[i]);
  if (missing.length)
    throw new Error(
      `[data] expected MNIST's four files or CIFAR-10's binary batches, got ${names}: ${missing.join(', ')} missing`,
    );
  const [trainImages, trainLabels, testImages, testLabels] = found as T[];
  return {
    kind: 'mnist',
    train: { images: trainImages, labels: trainLabels },
    test: { images: testImages, labels: testLabels },
  };
}
