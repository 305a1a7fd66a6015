// SPDX-License-Identifier: MIT
// ml-matrix, on its own matrices.
import { Matrix } from 'ml-matrix';
import { matrixSide } from './nested.js';

export async function open() {
  return matrixSide(
    (rows) => new Matrix(rows),
    {
      T1: ({ a, b }) => [Matrix.add(a, b)],
      T2: ({ a, b }) => [a.mmul(b)],
      T3: ({ a, b }) => [a.mmul(b)],
      T4: ({ a, b, bias, c }) => [a.mmul(b).addColumnVector(bias), a.transpose().mmul(c)],
    },
    (result) => result.to2DArray(),
  );
}
