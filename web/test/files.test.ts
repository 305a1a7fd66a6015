// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { MNIST_FILES, sortFiles } from '../src/logic/files';

const files = (...names: string[]) => names.map((name) => ({ name }));

test('recognizes MNIST in any order, packed or not, also with dots in names', () => {
  for (const names of [
    MNIST_FILES,
    MNIST_FILES.map((name) => `${name}.gz`),
    MNIST_FILES.map((name) => name.replace('-idx', '.idx')),
  ]) {
    const sorted = sortFiles(files(...names).reverse());
    expect(sorted).toEqual({
      kind: 'mnist',
      train: { images: { name: names[0] }, labels: { name: names[1] } },
      test: { images: { name: names[2] }, labels: { name: names[3] } },
    });
  }
});

test('sorts CIFAR-10 batches', () => {
  const sorted = sortFiles(files('data_batch_2.bin', 'test_batch.bin', 'data_batch_1.bin', 'readme.html'));
  expect(sorted).toEqual({
    kind: 'cifar10',
    train: files('data_batch_1.bin', 'data_batch_2.bin'),
    test: files('test_batch.bin'),
  });
});

test('names missing files', () => {
  expect(() => sortFiles(files('train-images-idx3-ubyte', 'cat.jpg'))).toThrow(
    'got train-images-idx3-ubyte, cat.jpg: train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte missing',
  );
  expect(() => sortFiles(files('data_batch_1.bin'))).toThrow('test_batch.bin');
  expect(() => sortFiles([])).toThrow('got none');
});
