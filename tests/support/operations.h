// SPDX-License-Identifier: MIT
// Every operation of a backend, each as a small computation: for tests of who computes it.
#pragma once

#include <functional>
#include <vector>

#include "matrix/backend.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/norm.h"
#include "matrix/ops/pool.h"
#include "matrix/ops/random.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/softmax.h"
#include "tests/support/reference.h"

namespace kaiseki::test {

struct Operation {
  Op op;
  std::function<Tensor(Device)> run;
};

inline Tensor numbers(std::vector<int32_t> values, Device device) {
  return Tensor::from(std::span<const int32_t>(values), {static_cast<int64_t>(values.size())},
                      device);
}

inline Tensor convolution(Device d) {
  Tensor x = random_tensor({1, 2, 5, 5}, 1, d), filter = random_tensor({3, 2, 3, 3}, 2, d);
  Tensor y({1, 3, 3, 3}, DType::f32, d), dx(x.shape(), DType::f32, d);
  conv2d(x, filter, nullptr, {}, y);
  conv2d_backward_data(y, filter, {}, dx);
  conv2d_backward_filter(x, y, {}, filter);
  return add(sum(dx), sum(filter));
}

inline Tensor pooling(Device d) {
  Tensor x = random_tensor({1, 2, 4, 4}, 1, d), y({1, 2, 2, 2}, DType::f32, d), dx = x.clone();
  Tensor indices(y.shape(), DType::i32, d);
  max_pool2d(x, {}, y, indices);
  max_pool2d_backward(y, indices, {}, dx);
  return dx;
}

inline Tensor normalised(Device d) {
  Tensor x = random_tensor({2, 3, 4}, 1, d), y(x.shape(), DType::f32, d);
  Tensor one = Tensor::full({3}, 1, d), mean = one.clone(), var = one.clone(),
         deviation = one.clone(), statistics = one.clone();
  batch_norm_train(x, one, one, {}, mean, var, statistics, deviation, y);
  return y;
}

inline Tensor response(Device d) {
  Tensor x = random_tensor({1, 3, 4}, 1, d), y(x.shape(), DType::f32, d);
  lrn(x, {}, y);
  return y;
}

inline Tensor drawn(Device d) {
  Tensor y({7}, DType::f32, d);
  Random random(3);
  random_uniform(y, random, 0, 1);
  return y;
}

inline const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {Op::copy,
       [](Device d) {
         return random_tensor({3, 4}, 1, d).transpose().clone();
       }},
      {Op::fill, [](Device d) { return Tensor::full({5}, 2, d); }},
      {Op::gemm,
       [](Device d) {
         return matmul(random_tensor({3, 4}, 1, d), random_tensor({4, 2}, 2, d));
       }},
      {Op::elementwise,
       [](Device d) { return multiply(random_tensor({3}, 1, d), random_tensor({3}, 2, d)); }},
      {Op::reduce,
       [](Device d) {
         return sum(random_tensor({3, 4}, 1, d), {1});
       }},
      {Op::arg_reduce,
       [](Device d) {
         return argmax(random_tensor({3, 4}, 1, d), 1);
       }},
      {Op::softmax,
       [](Device d) {
         return softmax(random_tensor({3, 4}, 1, d));
       }},
      {Op::cross_entropy,
       [](Device d) {
         return softmax_cross_entropy(random_tensor({3, 4}, 1, d), numbers({1, 0, 3}, d)).losses;
       }},
      {Op::convolution, convolution},
      {Op::pooling, pooling},
      {Op::batch_norm, normalised},
      {Op::lrn, response},
      {Op::random, drawn},
      {Op::gather,
       [](Device d) {
         return gather(random_tensor({4, 2}, 1, d), numbers({2, 2, 0}, d));
       }},
  };
  return all;
}

inline std::vector<float> values(const Tensor& t) {
  if (t.dtype() == DType::f32) return t.to_vector();
  std::vector<int32_t> integers = t.to_vector<int32_t>();
  return {integers.begin(), integers.end()};
}

}  // namespace kaiseki::test
