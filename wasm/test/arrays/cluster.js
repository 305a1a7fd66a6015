// SPDX-License-Identifier: MIT
// The steps of k-means, compared with plain loops in double on odd shapes.
import assert from 'node:assert/strict';
import { matrix, near, noise, same } from './plain.js';

const SHAPES = [1, 15, 16, 17, 131].flatMap((n) =>
  [1, 3, 20, 67].flatMap((features) => [1, 2, 7, 13].map((count) => [n, features, count])),
);
const label = ([n, features, count]) => `${n} rows, ${features} features, ${count} centers`;
/** Numbers that f32 holds exactly. */
const floats = (m, n, seed) => {
  const values = Float32Array.from(noise(m * n, seed));
  return matrix(m, n, (i, j) => values[i * n + j]);
};
const square = (a, b) => a.reduce((sum, value, f) => sum + (value - b[f]) ** 2, 0);
/** Each addition of a positive term rounds once. */
const tolerance = (features) => 1e-7 * (features + 4);

export function clusterCases(arrays) {
  const list = (tensor) => Array.from(tensor.toTypedArray());
  const integers = (values) => arrays.tensor(values, [values.length], 'i32');
  const refused = (call, message) => assert.throws(call, { name: 'KaisekiError', kind: 'ShapeError', message });
  const made = ([n, features, count]) => {
    const rows = floats(n, features, 1),
      centers = floats(count, features, 2);
    return { rows, centers, x: arrays.tensor(rows), y: arrays.tensor(centers) };
  };
  const none = () => arrays.empty([0, 3]);

  return {
    squared_distances: [
      ...SHAPES.map((shape) => [
        label(shape),
        () => {
          const [n, features, count] = shape,
            { rows, centers, x, y } = made(shape);
          const got = x.squared_distances(y);
          assert.deepEqual([got.dtype, got.shape], ['f32', [count, n]]);
          near(
            got,
            centers.map((center) => rows.map((row) => square(row, center))),
            tolerance(features),
          );
        },
      ]),
      ['no rows', () => same(none().squared_distances(arrays.ones([2, 3])), 'f32', [2, 0], [])],
      [
        'a view',
        () => {
          const x = arrays.tensor(floats(3, 20, 1)),
            y = arrays.tensor(floats(2, 3, 2));
          assert.deepEqual(
            list(x.transpose().squared_distances(y)),
            list(x.transpose().contiguous().squared_distances(y)),
          );
        },
      ],
      [
        'errors',
        () => {
          const x = arrays.ones([2, 3]);
          refused(() => x.squared_distances(arrays.ones([2, 4])), /\[squared_distances\] expected centers of shape/);
          refused(() => x.squared_distances(none()), /\[squared_distances\] expected centers of shape/);
          refused(() => x.cast('f64').squared_distances(x), /\[squared_distances\]/);
        },
      ],
    ],
    nearest_labels: [
      ...SHAPES.map((shape) => [
        label(shape),
        () => {
          const [n, features] = shape,
            { rows, centers, x, y } = made(shape);
          const { labels, squares } = x.nearest_labels(y);
          const all = rows.map((row) => centers.map((center) => square(row, center)));
          const least = all.map((row) => Math.min(...row));
          same(
            labels,
            'i32',
            [n],
            all.map((row, i) => row.indexOf(least[i])),
          );
          assert.deepEqual([squares.dtype, squares.shape], ['f32', [n]]);
          near(squares, least, tolerance(features));
          const distances = list(x.squared_distances(y));
          assert.deepEqual(
            list(squares),
            list(labels).map((at, i) => distances[at * n + i]),
          );
        },
      ]),
      [
        'the first of equal centers, a large mean, and NaN',
        () => {
          const [x, y] = [
            [20000, 1, 20001, 1.5, NaN, 1],
            [20000, 1, 20001, 1, 20000, 1],
          ].map((values) => arrays.tensor(values, [3, 2]));
          const { labels, squares } = x.nearest_labels(y);
          same(labels, 'i32', [3], [0, 1, 0]);
          assert.deepEqual(list(squares).slice(0, 2), [0, 0.25]);
        },
      ],
      [
        'no rows',
        () => {
          const { labels, squares } = none().nearest_labels(arrays.ones([2, 3]));
          same(labels, 'i32', [0], []);
          same(squares, 'f32', [0], []);
        },
      ],
      [
        'errors',
        () => {
          const x = arrays.ones([2, 3]);
          refused(() => x.nearest_labels(none()), /\[nearest_labels\] expected centers of shape/);
          refused(() => x.reshape([6]).nearest_labels(x), /\[nearest_labels\] expected rows of rank 2/);
        },
      ],
    ],
    cluster_sums: [
      ...[1, 17, 1000, 4999].flatMap((n) =>
        [1, 5, 16, 37].flatMap((features) =>
          [1, 3, 11].map((count) => [
            label([n, features, count]),
            () => {
              const rows = floats(n, features, 3),
                labels = rows.map((_, i) => (i * 7) % count);
              const sums = matrix(count, features + 1, () => 0);
              rows.forEach((row, i) => [...row, 1].forEach((value, f) => (sums[labels[i]][f] += value)));
              const got = arrays.tensor(rows).cluster_sums(integers(labels), count);
              assert.deepEqual([got.dtype, got.shape], ['f32', [count, features + 1]]);
              near(got, sums, 1e-6); // of the number of rows, which is the largest value
              const numbers = list(got.slice(`:, ${features}`));
              assert.deepEqual(
                numbers,
                sums.map((row) => row[features]),
              );
            },
          ]),
        ),
      ),
      ['no rows', () => same(none().cluster_sums(integers([]), 2), 'f32', [2, 4], Array(8).fill(0))],
      [
        'errors',
        () => {
          const x = arrays.ones([2, 3]);
          refused(() => x.cluster_sums(integers([0, 2]), 2), '[cluster_sums] expected labels from 0 to 1, got 2');
          refused(() => x.cluster_sums(integers([-1, 0]), 2), '[cluster_sums] expected labels from 0 to 1, got -1');
          refused(() => x.cluster_sums(integers([0, 0, 0]), 2), /\[cluster_sums\] expected labels of shape \[2\]/);
          refused(() => x.cluster_sums(arrays.zeros([2]), 2), /\[cluster_sums\]/);
          refused(() => x.cluster_sums(integers([0, 0]), 0), /expected a count of 1 or more, got 0/);
        },
      ],
    ],
  };
}
