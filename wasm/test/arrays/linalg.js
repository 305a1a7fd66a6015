// SPDX-License-Identifier: MIT
// Linear algebra: the properties of each result, with products in plain loops, for f32 and f64 and odd shapes.
import assert from 'node:assert/strict';
import { diagonal, identity, matrix, near, random, rows, times, transposed } from './plain.js';

const SQUARE = [1, 2, 5, 17];
const SHAPES = [
  [1, 1],
  [3, 7],
  [7, 3],
  [13, 13],
];
const scaled = (a, columns) => a.map((row) => row.map((value, j) => value * columns[j]));
const plus = (a, b) => a.map((row, i) => row.map((value, j) => value + b[i][j]));

/** A determinant by cofactors of the first row. */
function determinant(a) {
  if (!a.length) return 1;
  return a[0].reduce((sum, value, j) => {
    const rest = a.slice(1).map((row) => row.toSpliced(j, 1));
    return sum + (j % 2 ? -1 : 1) * value * determinant(rest);
  }, 0);
}

function exponential(a) {
  let [sum, term] = [identity(a.length), identity(a.length)];
  for (let k = 1; k < 60; ++k) {
    term = scaled(
      times(term, a),
      a.map(() => 1 / k),
    );
    sum = plus(sum, term);
  }
  return sum;
}

/** Calls body(tensor, rows, tolerance, seed) for both types and each shape. */
function each(arrays, shapes, body) {
  return ['f32', 'f64'].flatMap((dtype) =>
    shapes.map(([m, n], seed) => [
      `${dtype} ${m} x ${n}`,
      () => {
        const a = random(m, n, seed + 1);
        // Products of up to 17 terms of about 1, and condition numbers up to 1000.
        body(
          arrays.tensor(a, undefined, dtype),
          rows(arrays.tensor(a, undefined, dtype)),
          dtype === 'f32' ? 1e-3 : 1e-11,
        );
      },
    ]),
  );
}

export function linalgCases(arrays) {
  const square = SQUARE.map((n) => [n, n]),
    small = [1, 2, 3, 5].map((n) => [n, n]);
  const like = (values, tensor) => arrays.tensor(values, undefined, tensor.dtype);
  /** Symmetric and positive definite. */
  const definite = (a) => plus(times(a, transposed(a)), identity(a.length));
  const symmetric = (a) => plus(a, transposed(a));

  function checkSvd(t, a, { u, s, vt }, tolerance) {
    near(
      times(
        scaled(
          rows(u).map((row) => row.slice(0, s.size)),
          rows(s),
        ),
        rows(vt).slice(0, s.size),
      ),
      a,
      tolerance,
    );
    near(times(transposed(rows(u)), rows(u)), identity(u.shape[1]), tolerance);
    near(times(rows(vt), transposed(rows(vt))), identity(vt.shape[0]), tolerance);
    assert.ok(rows(s).every((value, i) => value >= 0 && (!i || value <= rows(s)[i - 1])));
  }

  return {
    solve: each(arrays, square, (t, a, tolerance) => {
      const b = random(a.length, 3, 9);
      near(times(a, rows(t.solve(like(b, t)))), b, tolerance);
      const vector = b.map((row) => row[0]);
      near(
        times(
          a,
          rows(t.solve(like(vector, t))).map((value) => [value]),
        ),
        vector,
        tolerance,
      );
    }),
    inv: each(arrays, square, (t, a, tolerance) => near(times(a, rows(t.inv())), identity(a.length), tolerance)),
    lu: each(arrays, SHAPES, (t, a, tolerance) => {
      const { permutation, l, u } = t.lu();
      near(
        times(rows(l), rows(u)),
        rows(permutation).map((row) => a[row]),
        tolerance,
      );
      assert.ok(rows(l).every((row, i) => row.every((value, j) => (j > i ? value === 0 : j < i || value === 1))));
      assert.ok(rows(u).every((row, i) => row.every((value, j) => j >= i || value === 0)));
    }),
    det: [
      ...each(arrays, small, (t, a, tolerance) => near(t.det().item(), determinant(a), tolerance)),
      [
        'a batch',
        () =>
          near(
            arrays
              .tensor([
                [
                  [2, 1],
                  [1, 1],
                ],
                [
                  [1, 2],
                  [3, 4],
                ],
              ])
              .det(),
            [1, -2],
          ),
      ],
    ],
    slogdet: each(arrays, small, (t, a, tolerance) => {
      const { sign, log } = t.slogdet();
      near(sign.item() * Math.exp(log.item()), determinant(a), tolerance);
    }),
    cholesky: each(arrays, square, (t, a, tolerance) => {
      const l = rows(like(definite(a), t).cholesky());
      near(times(l, transposed(l)), definite(a), tolerance);
      assert.ok(l.every((row, i) => row[i] > 0 && row.every((value, j) => j <= i || value === 0)));
    }),
    qr: ['thin', 'full'].flatMap((size) =>
      each(arrays, SHAPES, (t, a, tolerance) => {
        const { q, r } = t.qr(size);
        assert.equal(q.shape[1], size === 'full' ? a.length : Math.min(a.length, a[0].length));
        near(times(rows(q), rows(r)), a, tolerance);
        near(times(transposed(rows(q)), rows(q)), identity(q.shape[1]), tolerance);
        assert.ok(rows(r).every((row, i) => row.every((value, j) => j >= i || value === 0)));
      }),
    ),
    eigh: each(arrays, square, (t, a, tolerance) => {
      const { values, vectors } = like(symmetric(a), t).eigh(),
        v = rows(vectors);
      near(times(symmetric(a), v), scaled(v, rows(values)), tolerance);
      near(times(transposed(v), v), identity(a.length), tolerance);
      assert.ok(rows(values).every((value, i, all) => !i || value >= all[i - 1]));
    }),
    eigvalsh: each(arrays, square, (t, a, tolerance) => {
      const s = like(symmetric(a), t);
      near(s.eigvalsh(), rows(s.eigh().values), tolerance);
      near(
        rows(s.eigvalsh()).reduce((sum, value) => sum + value, 0),
        symmetric(a).reduce((sum, row, i) => sum + row[i], 0),
        tolerance,
      );
    }),
    eig: [
      ...each(arrays, square, (t, a, tolerance) => {
        const { values, vectors } = t.eig();
        const [x, y] = [rows(vectors.real), rows(vectors.imaginary)],
          [p, q] = [rows(values.real), rows(values.imaginary)];
        near(
          times(a, x),
          plus(
            scaled(x, p),
            scaled(
              y,
              q.map((value) => -value),
            ),
          ),
          tolerance,
        );
        near(times(a, y), plus(scaled(x, q), scaled(y, p)), tolerance);
      }),
      [
        'a rotation',
        () =>
          near(
            rows(
              arrays
                .tensor([
                  [0, -1],
                  [1, 0],
                ])
                .eig().values.imaginary,
            ).sort(),
            [-1, 1],
          ),
      ],
    ],
    svd: ['thin', 'full'].flatMap((size) =>
      each(arrays, SHAPES, (t, a, tolerance) => checkSvd(t, a, t.svd({ size }), tolerance)),
    ),
    truncated_svd: each(arrays, SHAPES, (t, a, tolerance) => {
      const { s } = t.svd(),
        k = Math.min(2, s.size),
        best = t.truncated_svd(k);
      near(best.s, rows(s).slice(0, k), tolerance);
      near(scaled(rows(best.u), rows(best.s)), times(a, transposed(rows(best.vt))), tolerance);
    }),
    randomized_svd: each(
      arrays,
      [
        [17, 9],
        [9, 17],
      ],
      (t, a, tolerance) => {
        const low = times(
          a.map((row) => row.slice(0, 3)),
          random(3, a[0].length, 5),
        );
        checkSvd(t, low, like(low, t).randomized_svd(3, { seed: 4 }), tolerance);
      },
    ),
    lstsq: each(arrays, SHAPES, (t, a, tolerance) => {
      const b = random(a.length, 2, 8),
        { x, rank, s } = t.lstsq(like(b, t));
      const residual = plus(
        times(a, rows(x)),
        b.map((row) => row.map((value) => -value)),
      );
      near(
        times(transposed(a), residual),
        matrix(a[0].length, 2, () => 0),
        tolerance,
      );
      assert.equal(rank.item(), Math.min(a.length, a[0].length));
      near(s, rows(t.svd().s), tolerance);
    }),
    pinv: each(arrays, SHAPES, (t, a, tolerance) => {
      const p = rows(t.pinv());
      near(times(times(a, p), a), a, tolerance);
      near(transposed(times(a, p)), times(a, p), tolerance);
      near(transposed(times(p, a)), times(p, a), tolerance);
    }),
    matrix_rank: each(arrays, SHAPES, (t, a) => {
      assert.equal(t.matrix_rank().item(), Math.min(a.length, a[0].length));
      const low = times(
        a.map((row) => row.slice(0, 1)),
        [a[0]],
      );
      assert.equal(like(low, t).matrix_rank().item(), 1);
    }),
    matrix_norm: each(arrays, SHAPES, (t, a, tolerance) => {
      const sums = (list) => list.map((row) => row.reduce((sum, value) => sum + Math.abs(value), 0));
      near(t.matrix_norm().item(), Math.hypot(...a.flat()), tolerance);
      near(t.matrix_norm('one').item(), Math.max(...sums(transposed(a))), tolerance);
      near(t.matrix_norm('infinity').item(), Math.max(...sums(a)), tolerance);
      near(t.matrix_norm('two').item(), rows(t.svd().s)[0], tolerance);
      near(
        t.matrix_norm('nuclear').item(),
        rows(t.svd().s).reduce((sum, value) => sum + value, 0),
        tolerance,
      );
    }),
    trace: each(arrays, SHAPES, (t, a, tolerance) =>
      near(
        t.trace().item(),
        a.reduce((sum, row, i) => sum + (row[i] ?? 0), 0),
        tolerance,
      ),
    ),
    expm: [
      ...each(arrays, square, (t, a, tolerance) => near(t.expm(), exponential(a), tolerance)),
      ['a diagonal', () => near(arrays.tensor(diagonal([0, 1])).expm(), diagonal([1, Math.E]))],
    ],
    kron: each(arrays, SHAPES, (t, a, tolerance) => {
      const b = random(2, 3, 6);
      const [m, n] = t.shape;
      near(
        t.kron(like(b, t)),
        matrix(2 * m, 3 * n, (i, j) => a[Math.floor(i / 2)][Math.floor(j / 3)] * b[i % 2][j % 3]),
        tolerance,
      );
    }),
  };
}
