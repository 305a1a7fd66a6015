// SPDX-License-Identifier: MIT
// Every operation of a backend as a small computation, for tests of which backend computes it.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "matrix/ops/cluster.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/ops/cumulative.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/norm.h"
#include "matrix/ops/normalize.h"
#include "matrix/ops/pooling.h"
#include "matrix/ops/random.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/softmax.h"
#include "matrix/ops/sort.h"
#include "tests/support/reference.h"

namespace kaiseki::test {

struct OperationCase {
  std::string_view name;  // as in the fallback's message
  std::function<Tensor(Device)> run;
};

inline Tensor numbers(std::vector<int32_t> values, Device device) {
  return Tensor::from(std::span<const int32_t>(values), {static_cast<int64_t>(values.size())},
                      device);
}

inline Tensor convolution(Device d) {
  Tensor x = random_tensor({1, 2, 5, 5}, 1, d), filter = random_tensor({3, 2, 3, 3}, 2, d);
  Tensor y({1, 3, 3, 3}, DType::f32, d), dx(x.shape(), DType::f32, d);
  conv2d_into(y, x, filter, {});
  conv2d_backward_data_into(dx, y, filter, {});
  conv2d_backward_filter_into(filter, x, y, {});
  return sum(dx) + sum(filter);
}

inline Tensor pooled(Device d) {
  Tensor y({1, 2, 2, 2}, DType::f32, d), indices(y.shape(), DType::i32, d);
  max_pool2d_into(y, indices, random_tensor({1, 2, 4, 4}, 1, d), {});
  return y;
}

inline Tensor unpooled(Device d) {
  Tensor dx({1, 2, 4, 4}, DType::f32, d);
  Tensor indices = numbers({0, 5, 2, 7, 10, 1, 3, 8}, d).reshape({1, 2, 2, 2});
  max_pool2d_backward_into(dx, random_tensor({1, 2, 2, 2}, 1, d), indices, {});
  return dx;
}

/// Tensors of a batch normalization over [2, 3, 4].
struct BatchNormTensors {
  explicit BatchNormTensors(Device d)
      : x(random_tensor({2, 3, 4}, 1, d)), y(x.shape(), DType::f32, d) {
    gamma = random_tensor({3}, 2, d), beta = random_tensor({3}, 3, d);
    mean = random_tensor({3}, 4, d), variance = Tensor::full({3}, 2, d);
    batch_mean = random_tensor({3}, 5, d), inverse_deviation = Tensor::full({3}, 3, d);
  }
  Tensor x, y, gamma, beta, mean, variance, batch_mean, inverse_deviation;
};

inline Tensor drawn(Device d) {
  Tensor y({7}, DType::f32, d);
  Random random(3);
  random_uniform_into(y, random, 0, 1);
  return y;
}

inline const std::vector<OperationCase>& operations() {
  static const std::vector<OperationCase> all = {
      {"copy",
       [](Device d) {
         return random_tensor({3, 4}, 1, d).transpose().clone();
       }},
      {"fill", [](Device d) { return Tensor::full({5}, 2, d); }},
      {"gemm",
       [](Device d) {
         return matmul(random_tensor({3, 4}, 1, d), random_tensor({4, 2}, 2, d));
       }},
      {"elementwise", [](Device d) { return random_tensor({3}, 1, d) * random_tensor({3}, 2, d); }},
      {"cast",
       [](Device d) {
         return cast(cast(random_tensor({3, 4}, 1, d), DType::f64), DType::f32);
       }},
      {"reduce",
       [](Device d) {
         return sum(random_tensor({3, 4}, 1, d), {1});
       }},
      {"arg_reduce",
       [](Device d) {
         return argmax(random_tensor({3, 4}, 1, d), 1);
       }},
      {"softmax",
       [](Device d) {
         return softmax(random_tensor({3, 4}, 1, d));
       }},
      {"softmax_backward",
       [](Device d) {
         return softmax_backward(random_tensor({3, 4}, 1, d), random_tensor({3, 4}, 2, d));
       }},
      {"softmax_cross_entropy",
       [](Device d) {
         return softmax_cross_entropy(random_tensor({3, 4}, 1, d), numbers({1, 0, 3}, d)).losses;
       }},
      {"softmax_cross_entropy_backward",
       [](Device d) {
         return softmax_cross_entropy_backward(random_tensor({3, 4}, 1, d), numbers({1, 0, 3}, d),
                                               2);
       }},
      {"convolution", convolution},
      {"pool2d", pooled},
      {"pool2d_backward", unpooled},
      {"batch_norm_train",
       [](Device d) {
         BatchNormTensors n(d);
         batch_norm_train({.x = n.x, .gamma = n.gamma, .beta = n.beta, .y = n.y},
                          {.running_mean = n.mean,
                           .running_var = n.variance,
                           .mean = n.batch_mean,
                           .inv_std = n.inverse_deviation});
         return n.y;
       }},
      {"batch_norm_infer",
       [](Device d) {
         BatchNormTensors n(d);
         batch_norm_infer({.x = n.x, .gamma = n.gamma, .beta = n.beta, .y = n.y}, n.mean,
                          n.variance);
         return n.y;
       }},
      {"batch_norm_apply",
       [](Device d) {
         BatchNormTensors n(d);
         batch_norm_apply({.x = n.x, .gamma = n.gamma, .beta = n.beta, .y = n.y}, n.batch_mean,
                          n.inverse_deviation);
         return n.y;
       }},
      {"batch_norm_backward",
       [](Device d) {
         BatchNormTensors n(d);
         Tensor dx(n.x.shape(), DType::f32, d), dgamma = Tensor::zeros({3}, DType::f32, d),
                                                dbeta = dgamma.clone();
         batch_norm_backward({.x = n.x,
                              .dy = random_tensor({2, 3, 4}, 6, d),
                              .gamma = n.gamma,
                              .mean = n.batch_mean,
                              .inv_std = n.inverse_deviation,
                              .dx = dx,
                              .dgamma = dgamma,
                              .dbeta = dbeta});
         return dx;
       }},
      {"lrn",
       [](Device d) {
         Tensor y({1, 3, 4}, DType::f32, d);
         lrn_into(y, random_tensor({1, 3, 4}, 1, d), {});
         return y;
       }},
      {"lrn_backward",
       [](Device d) {
         Tensor dx({1, 3, 4}, DType::f32, d), x = random_tensor({1, 3, 4}, 1, d);
         lrn_backward_into(dx, x, random_tensor({1, 3, 4}, 2, d), random_tensor({1, 3, 4}, 3, d),
                           {});
         return dx;
       }},
      {"normalize",
       [](Device d) {
         const uint8_t bytes[] = {0, 1, 100, 255};
         return normalize(Tensor::from(std::span<const uint8_t>(bytes), {1, 2, 2}, d), {}, {});
       }},
      {"random", drawn},
      {"random_integers",
       [](Device d) {
         Random random(3);
         return randi(-3, 4, {7}, random, d);
       }},
      {"take",
       [](Device d) {
         return take(random_tensor({4, 2}, 1, d), numbers({2, 2, 0}, d), 0);
       }},
      {"put",
       [](Device d) {
         Tensor x = Tensor::zeros({4, 2}, DType::f32, d);
         put(x, numbers({2, 2, 0}, d), random_tensor({3, 2}, 1, d), 0);
         return x;
       }},
      {"add_at",
       [](Device d) {
         Tensor x = Tensor::zeros({4, 2}, DType::f32, d);
         add_at(x, numbers({2, 2, 0}, d), random_tensor({3, 2}, 1, d), 0);
         return x;
       }},
      {"fold",
       [](Device d) {
         return prod(random_tensor({3, 4}, 1, d), {1});
       }},
      {"scan",
       [](Device d) {
         return cumsum(random_tensor({3, 4}, 1, d), 1);
       }},
      {"squared_distances",
       [](Device d) {
         return squared_distances(random_tensor({3, 4}, 1, d), random_tensor({2, 4}, 2, d));
       }},
      {"nearest_labels",
       [](Device d) {
         return nearest_labels(random_tensor({3, 4}, 1, d), random_tensor({2, 4}, 2, d)).squares;
       }},
      {"cluster_sums",
       [](Device d) {
         return cluster_sums(random_tensor({3, 4}, 1, d), numbers({1, 0, 1}, d), 2);
       }},
      {"argsort",
       [](Device d) {
         return argsort(random_tensor({3, 4}, 1, d));
       }},
      {"searchsorted",
       [](Device d) {
         return searchsorted(Tensor::from({0, 1, 2}, {3}, d), random_tensor({3, 4}, 1, d));
       }},
      {"triangle",
       [](Device d) {
         return tril(random_tensor({3, 4}, 1, d));
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
