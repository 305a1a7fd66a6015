// SPDX-License-Identifier: MIT
// Math.js, on its own matrices.
import { add, matrix, multiply, transpose } from 'mathjs';
import { matrixSide } from './nested.js';

export async function open() {
  return matrixSide(
    (rows) => matrix(rows),
    {
      T1: ({ a, b }) => [add(a, b)],
      T2: ({ a, b }) => [multiply(a, b)],
      T3: ({ a, b }) => [multiply(a, b)],
      T4: ({ a, b, bias, c }) => [add(multiply(a, b), bias), multiply(transpose(a), c)],
    },
    (result) => result.toArray(),
  );
}
