// SPDX-License-Identifier: MIT
// Sylvester, on its own matrices. It has no broadcasting, so the column is repeated explicitly.
import { Matrix } from 'sylvester';
import { matrixSide } from './nested.js';

export async function open() {
  return matrixSide(
    (rows) => Matrix.create(rows),
    {
      T1: ({ a, b }) => [a.add(b)],
      T2: ({ a, b }) => [a.multiply(b)],
      T3: ({ a, b }) => [a.multiply(b)],
      T4: ({ a, b, bias, c }) => {
        const y = a.multiply(b),
          column = y.elements.map((row, i) => row.map(() => bias.elements[i][0]));
        return [y.add(Matrix.create(column)), a.transpose().multiply(c)];
      },
    },
    (result) => result.elements,
  );
}
