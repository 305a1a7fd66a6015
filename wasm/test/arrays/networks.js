// SPDX-License-Identifier: MIT
// Operations of networks against plain loops.
import assert from 'node:assert/strict';
import { near, noise, same } from './plain.js';

const at = (shape, ...index) => index.reduce((place, i, axis) => place * shape[axis] + i, 0);
const count = (shape) => shape.reduce((product, dim) => product * dim, 1);

/** Calls body(place in x, place in filter, place in y) for each product of a convolution. */
function eachProduct({ x, filter, y, stride, padding, dilation, groups }, body) {
  const [, c, h, w] = x,
    [k, , r, s] = filter,
    [n, , oh, ow] = y;
  for (let i = 0; i < n * k * oh * ow; ++i) {
    const q = i % ow,
      p = Math.floor(i / ow) % oh,
      f = Math.floor(i / (ow * oh)) % k,
      b = Math.floor(i / (ow * oh * k));
    for (let j = 0; j < (c / groups) * r * s; ++j) {
      const [dc, dr, ds] = [Math.floor(j / (r * s)), Math.floor(j / s) % r, j % s];
      const [row, column] = [
        p * stride[0] - padding[0] + dr * dilation[0],
        q * stride[1] - padding[1] + ds * dilation[1],
      ];
      if (row < 0 || row >= h || column < 0 || column >= w) continue;
      const channel = Math.floor(f / (k / groups)) * (c / groups) + dc;
      body(at(x, b, channel, row, column), at(filter, f, dc, dr, ds), i);
    }
  }
}

const CONVOLUTIONS = [
  { x: [1, 1, 1, 1], filter: [1, 1, 1, 1] },
  { x: [2, 3, 7, 5], filter: [4, 3, 3, 3], padding: [1, 1] },
  { x: [1, 4, 9, 8], filter: [6, 2, 3, 2], stride: [2, 1], padding: [1, 0], groups: 2 },
  { x: [3, 2, 11, 7], filter: [5, 2, 2, 3], dilation: [2, 2] },
].map((given) => {
  const one = { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1, ...given };
  const out = [0, 1].map((i) =>
    Math.floor((one.x[2 + i] + 2 * one.padding[i] - one.dilation[i] * (one.filter[2 + i] - 1) - 1) / one.stride[i] + 1),
  );
  return { ...one, y: [one.x[0], one.filter[0], ...out] };
});
const POOLS = [
  { x: [1, 1, 2, 2] },
  { x: [2, 3, 7, 5], window: [3, 2], stride: [2, 2] },
  { x: [1, 2, 8, 9], window: [3, 3], stride: [2, 2], padding: [1, 1], ceil_mode: true },
];

/** The places of the elements in each window, for each element of the output. */
function windows({ x, window = [2, 2], stride = [2, 2], padding = [0, 0] }, shape) {
  return Array.from({ length: count(shape) }, (_, i) => {
    const [q, p, plane] = [i % shape[3], Math.floor(i / shape[3]) % shape[2], Math.floor(i / (shape[2] * shape[3]))];
    const places = [];
    for (let r = 0; r < window[0]; ++r)
      for (let s = 0; s < window[1]; ++s) {
        const [row, column] = [p * stride[0] - padding[0] + r, q * stride[1] - padding[1] + s];
        if (row >= 0 && row < x[2] && column >= 0 && column < x[3])
          places.push(plane * x[2] * x[3] + row * x[3] + column);
      }
    return places;
  });
}

export function networkCases(arrays) {
  const filled = (shape, seed) => arrays.tensor(noise(count(shape), seed), shape);
  const numbers = (tensor) => Array.from(tensor.toTypedArray());
  const options = ({ stride, padding, dilation, groups }) => ({ stride, padding, dilation, groups });
  const convolutions = (run) => CONVOLUTIONS.map((one) => [`x ${one.x}, filter ${one.filter}`, () => run(one)]);
  const pools = (run) =>
    POOLS.map((one) => {
      const { x, ...settings } = one;
      return [`x ${x}`, () => run(one, settings)];
    });

  function batch() {
    const shape = [3, 2, 5],
      x = filled(shape, 1);
    const statistics = [0, 1].map((channel) => {
      const values = numbers(x).filter((_, i) => Math.floor(i / 5) % 2 === channel);
      const mean = values.reduce((sum, value) => sum + value, 0) / 15;
      return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 15 };
    });
    const gamma = arrays.tensor([2, -1]),
      beta = arrays.tensor([0.5, 3]);
    const inverse = statistics.map(({ variance }) => 1 / Math.sqrt(variance + 1e-5));
    const normal = numbers(x).map(
      (value, i) => (value - statistics[Math.floor(i / 5) % 2].mean) * inverse[Math.floor(i / 5) % 2],
    );
    const y = normal.map((value, i) => value * [2, -1][Math.floor(i / 5) % 2] + [0.5, 3][Math.floor(i / 5) % 2]);
    return { shape, x, gamma, beta, statistics, inverse, normal, y, zeros: arrays.zeros([2]), ones: arrays.ones([2]) };
  }
  const trained = (b) => b.x.batch_norm_train(b.gamma, b.beta, b.zeros, b.ones);

  /** k + alpha / size * sum of squares, for each element of x [2, 5, 3]. */
  function lrnScale(x, { size = 5, alpha = 1e-4, k = 1 }) {
    return x.map((_, i) => {
      const channel = Math.floor(i / 3) % 5;
      let sum = 0;
      for (let c = channel - Math.floor(size / 2); c <= channel + Math.floor((size - 1) / 2); ++c)
        if (c >= 0 && c < 5) sum += x[i + 3 * (c - channel)] ** 2;
      return k + (alpha / size) * sum;
    });
  }
  const LRN = { size: 3, alpha: 0.5, beta: 0.75, k: 2 };
  function softmaxOf(x, columns) {
    const exps = x.map((value, i) => {
      const row = x.slice(i - (i % columns), i - (i % columns) + columns);
      return Math.exp(value) / row.reduce((sum, one) => sum + Math.exp(one), 0);
    });
    return exps;
  }
  const rowSum = (values, i, columns) =>
    values.slice(i - (i % columns), i - (i % columns) + columns).reduce((sum, one) => sum + one, 0);
  const one = (label, run) => [[label, run]];

  return {
    conv2d: [
      ...convolutions((c) => {
        const [x, filter] = [filled(c.x, 1), filled(c.filter, 2)],
          [xs, fs] = [numbers(x), numbers(filter)];
        const y = Array(count(c.y)).fill(0);
        eachProduct(c, (i, j, k) => (y[k] += xs[i] * fs[j]));
        const made = x.conv2d(filter, options(c));
        assert.deepEqual(made.shape, c.y);
        near(made, y);
        const bias = filled([c.filter[0]], 3);
        const wanted = made.add(bias.reshape([-1, 1, 1])).maximum(0);
        near(x.conv2d(filter, { ...options(c), bias, activation: 'relu' }), wanted);
      }),
    ],
    conv2d_backward_data: convolutions((c) => {
      const [dy, filter] = [filled(c.y, 1), filled(c.filter, 2)],
        [ds, fs] = [numbers(dy), numbers(filter)];
      const dx = Array(count(c.x)).fill(0);
      eachProduct(c, (i, j, k) => (dx[i] += ds[k] * fs[j]));
      near(dy.conv2d_backward_data(filter, c.x, options(c)), dx);
    }),
    conv2d_backward_filter: convolutions((c) => {
      const [x, dy] = [filled(c.x, 1), filled(c.y, 2)],
        [xs, ds] = [numbers(x), numbers(dy)];
      const df = Array(count(c.filter)).fill(0);
      eachProduct(c, (i, j, k) => (df[j] += xs[i] * ds[k]));
      near(x.conv2d_backward_filter(dy, c.filter, options(c)), df);
    }),
    conv2d_max_pool: one('as the two operations', () => {
      const [x, filter, bias] = [filled([2, 4, 9, 8], 1), filled([4, 2, 3, 3], 2), filled([4], 3)];
      const conv = { bias, padding: [1, 1], dilation: [1, 2], groups: 2, activation: 'relu' };
      const pool = { window: [3, 3], pool_stride: [2, 1], pool_padding: [1, 1], ceil_mode: true };
      const both = x.conv2d_max_pool(filter, { ...conv, ...pool });
      const apart = x.conv2d(filter, conv).max_pool2d([3, 3], [2, 1], [1, 1], true);
      assert.deepEqual(both.y.shape, apart.y.shape);
      near(both.y, apart.y);
      near(both.indices, apart.indices);
      assert.deepEqual(x.conv2d_max_pool(filter, { groups: 2 }).y.shape, [2, 4, 3, 3]);
    }),
    conv2d_max_pool_backward: one('as the two operations', () => {
      const [x, filter] = [filled([2, 4, 9, 8], 1), filled([4, 2, 3, 3], 2)],
        conv = { padding: [1, 1], dilation: [1, 2], groups: 2 },
        pool = { pool_padding: [1, 1], ceil_mode: true };
      const { y, indices } = x.conv2d_max_pool(filter, { ...conv, ...pool }),
        dy = filled(y.shape, 4),
        { shape } = x.conv2d(filter, conv);
      const { dfilter, dx } = x.conv2d_max_pool_backward(filter, dy, indices, { ...conv, ...pool });
      const between = dy.max_pool2d_backward(indices, shape, { padding: [1, 1], ceil_mode: true });
      near(dx, between.conv2d_backward_data(filter, x.shape, conv));
      near(dfilter, x.conv2d_backward_filter(between, filter.shape, conv));
    }),
    max_pool2d: pools((p, settings) => {
      const x = filled(p.x, 1),
        xs = numbers(x),
        { y, indices } = x.max_pool2d(settings);
      const all = windows(p, y.shape);
      near(
        y,
        all.map((places) => Math.max(...places.map((place) => xs[place]))),
      );
      const plane = p.x[2] * p.x[3];
      assert.deepEqual(
        numbers(indices),
        all.map((places) => places.reduce((a, b) => (xs[b] > xs[a] ? b : a)) % plane),
      );
    }),
    max_pool2d_backward: pools((p, settings) => {
      const x = filled(p.x, 1),
        xs = numbers(x),
        { y, indices } = x.max_pool2d(settings);
      const dy = filled(y.shape, 2),
        dx = Array(count(p.x)).fill(0);
      windows(p, y.shape).forEach((places, i) => {
        dx[places.reduce((a, b) => (xs[b] > xs[a] ? b : a))] += numbers(dy)[i];
      });
      near(dy.max_pool2d_backward(indices, p.x, settings), dx);
    }),
    average_pool2d: pools((p, settings) => {
      const x = filled(p.x, 1),
        xs = numbers(x),
        y = x.average_pool2d(settings);
      near(
        y,
        windows(p, y.shape).map((places) => places.reduce((sum, place) => sum + xs[place], 0) / places.length),
      );
      if (settings.ceil_mode) return; // windows then end beyond the padding
      const whole = x.average_pool2d({ ...settings, count_padding: true }),
        area = count(p.window ?? [2, 2]);
      near(
        whole,
        windows(p, y.shape).map((places) => places.reduce((sum, place) => sum + xs[place], 0) / area),
      );
    }),
    average_pool2d_backward: pools((p, settings) => {
      const { shape } = filled(p.x, 1).average_pool2d(settings),
        dy = filled(shape, 2);
      const dx = Array(count(p.x)).fill(0);
      windows(p, shape).forEach((places, i) =>
        places.forEach((place) => (dx[place] += numbers(dy)[i] / places.length)),
      );
      near(dy.average_pool2d_backward(p.x, settings), dx);
    }),
    batch_norm_train: one('statistics, result and running values', () => {
      const b = batch(),
        { y, mean, inv_std } = trained(b);
      near(y, b.y);
      near(
        mean,
        b.statistics.map((s) => s.mean),
      );
      near(inv_std, b.inverse);
      near(
        b.zeros,
        b.statistics.map((s) => 0.1 * s.mean),
      );
      near(
        b.ones,
        b.statistics.map((s) => 0.9 + (0.1 * s.variance * 15) / 14),
      );
    }),
    batch_norm_infer: one('with given statistics', () => {
      const b = batch();
      const mean = arrays.tensor(b.statistics.map((s) => s.mean)),
        variance = arrays.tensor(b.statistics.map((s) => s.variance));
      near(b.x.batch_norm_infer(b.gamma, b.beta, mean, variance), b.y);
      near(
        b.x.batch_norm_infer(b.gamma, b.beta, mean, variance, { relu: true }),
        b.y.map((value) => Math.max(value, 0)),
      );
    }),
    batch_norm_apply: one('the same again', () => {
      const b = batch(),
        { mean, inv_std } = trained(b);
      near(b.x.batch_norm_apply(b.gamma, b.beta, mean, inv_std), b.y);
    }),
    batch_norm_backward: one('the gradients of the formula', () => {
      const b = batch(),
        { mean, inv_std } = trained(b),
        dy = filled(b.shape, 5);
      const { dx, dgamma, dbeta } = b.x.batch_norm_backward(dy, b.gamma, mean, inv_std);
      const total = (of) =>
        [0, 1].map((c) => numbers(dy).reduce((sum, d, i) => sum + (Math.floor(i / 5) % 2 === c ? of(d, i) : 0), 0));
      const [sums, products] = [total((d) => d), total((d, i) => d * b.normal[i])];
      near(dbeta, sums);
      near(dgamma, products);
      near(
        dx,
        numbers(dy).map((d, i) => {
          const c = Math.floor(i / 5) % 2;
          return [2, -1][c] * b.inverse[c] * (d - sums[c] / 15 - (b.normal[i] * products[c]) / 15);
        }),
      );
    }),
    lrn: [LRN, {}].map((settings) => [
      JSON.stringify(settings),
      () => {
        const x = filled([2, 5, 3], 1),
          scale = lrnScale(numbers(x), settings);
        near(
          x.lrn(settings),
          numbers(x).map((value, i) => value / scale[i] ** 0.75),
        );
      },
    ]),
    lrn_backward: one('the gradient of the formula', () => {
      const [x, dy] = [filled([2, 5, 3], 1), filled([2, 5, 3], 2)],
        y = x.lrn(LRN);
      const [xs, ds, scale] = [numbers(x), numbers(dy), lrnScale(numbers(x), LRN)];
      const dx = xs.map((_, i) => {
        const step = 1e-4,
          moved = (by) => {
            const other = xs.with(i, xs[i] + by),
              scales = lrnScale(other, LRN);
            return other.reduce((sum, value, j) => sum + (ds[j] * value) / scales[j] ** 0.75, 0);
          };
        return (moved(step) - moved(-step)) / (2 * step);
      });
      assert.ok(scale.every((value) => value >= 2));
      near(x.lrn_backward(y, dy, LRN), dx, 1e-4);
    }),
    normalize: one('bytes of two channels', () => {
      const x = arrays.tensor([0, 255, 51, 102], [1, 2, 2], 'u8');
      near(x.normalize([0.5, 0], [0.5, 2]), [-1, 1, 0.1, 0.2]);
      near(x.normalize(), [0, 1, 0.2, 0.4]);
    }),
    softmax: one('rows and columns', () => {
      const x = filled([3, 5], 1);
      near(x.softmax(), softmaxOf(numbers(x), 5));
      near(x.transpose().softmax(0).transpose(), softmaxOf(numbers(x), 5));
    }),
    log_softmax: one('rows', () => {
      const x = filled([3, 5], 1);
      near(x.log_softmax(), softmaxOf(numbers(x), 5).map(Math.log));
    }),
    softmax_backward: one('rows', () => {
      const [x, dy] = [filled([3, 5], 1), filled([3, 5], 2)],
        y = softmaxOf(numbers(x), 5);
      const products = numbers(dy).map((d, i) => d * y[i]);
      near(
        x.softmax().softmax_backward(dy),
        y.map((value, i) => value * (numbers(dy)[i] - rowSum(products, i, 5))),
      );
    }),
    log_softmax_backward: one('rows', () => {
      const [x, dy] = [filled([3, 5], 1), filled([3, 5], 2)],
        y = softmaxOf(numbers(x), 5);
      near(
        x.log_softmax().log_softmax_backward(dy),
        numbers(dy).map((d, i) => d - y[i] * rowSum(numbers(dy), i, 5)),
      );
    }),
    softmax_cross_entropy: one('a label of -1 is ignored', () => {
      const x = filled([3, 5], 1),
        p = softmaxOf(numbers(x), 5);
      const { losses, probabilities } = x.softmax_cross_entropy(arrays.tensor([4, -1, 0], undefined, 'i32'));
      near(probabilities, p);
      near(losses, [-Math.log(p[4]), 0, -Math.log(p[10])]);
    }),
    softmax_cross_entropy_backward: one('one row', () => {
      const p = arrays.tensor([[0.25, 0.5, 0.25]]);
      same(p.softmax_cross_entropy_backward(arrays.tensor([1], undefined, 'i32'), 2), 'f32', [1, 3], [0.5, -1, 0.5]);
    }),
  };
}
