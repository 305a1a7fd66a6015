// SPDX-License-Identifier: MIT
// The operations of networks, forward and backward (matrix/ops/conv.h, conv_pooling.h, pooling.h,
// norm.h, normalize.h, softmax.h). In C++ they write into tensors of the caller. Here they return
// new ones.
#include "matrix/ops/conv.h"
#include "matrix/ops/conv_pooling.h"
#include "matrix/ops/norm.h"
#include "matrix/ops/normalize.h"
#include "matrix/ops/pooling.h"
#include "matrix/ops/softmax.h"
#include "wasm/bindings/arrays/names.h"
#include "wasm/bindings/arrays/operation.h"

namespace kaiseki::wasm {
namespace {

using Pair = std::array<int64_t, 2>;

struct PoolingResult {
  Tensor y, indices;
};
struct ConvPoolingGradients {
  Tensor dfilter, dx;
};
struct BatchNormResult {
  Tensor y, mean, inv_std;
};
struct BatchNormGradients {
  Tensor dx, dgamma, dbeta;
};

}  // namespace

template <>
inline constexpr std::tuple kMembers<PoolingResult>{Member{"y", &PoolingResult::y},
                                                    Member{"indices", &PoolingResult::indices}};
template <>
inline constexpr std::tuple kMembers<ConvPoolingGradients>{
    Member{"dfilter", &ConvPoolingGradients::dfilter}, Member{"dx", &ConvPoolingGradients::dx}};
template <>
inline constexpr std::tuple kMembers<BatchNormResult>{Member{"y", &BatchNormResult::y},
                                                      Member{"mean", &BatchNormResult::mean},
                                                      Member{"inv_std", &BatchNormResult::inv_std}};
template <>
inline constexpr std::tuple kMembers<BatchNormGradients>{
    Member{"dx", &BatchNormGradients::dx}, Member{"dgamma", &BatchNormGradients::dgamma},
    Member{"dbeta", &BatchNormGradients::dbeta}};
template <>
inline constexpr std::tuple kMembers<CrossEntropy>{
    Member{"losses", &CrossEntropy::losses}, Member{"probabilities", &CrossEntropy::probabilities}};

namespace {

Tensor conv2d_of(const Tensor& x, const Tensor& filter, const Pair& stride, const Pair& padding,
                 const Pair& dilation, int64_t groups, const Tensor* bias, Activation activation,
                 float slope) {
  const Conv2d conv{stride, padding, dilation, groups};
  const ConvProblem problem = conv_problem(x.shape(), filter.shape(), conv);
  Tensor y({problem.n, problem.k, problem.out_h(), problem.out_w()});
  conv2d_into(y, x, filter, conv, {bias, activation, slope});
  return y;
}

Tensor conv2d_dx(const Tensor& dy, const Tensor& filter, const Shape& shape, const Pair& stride,
                 const Pair& padding, const Pair& dilation, int64_t groups) {
  Tensor dx(shape);
  conv2d_backward_data_into(dx, dy, filter, {stride, padding, dilation, groups});
  return dx;
}

Tensor conv2d_dfilter(const Tensor& x, const Tensor& dy, const Shape& shape, const Pair& stride,
                      const Pair& padding, const Pair& dilation, int64_t groups) {
  Tensor dfilter(shape);
  conv2d_backward_filter_into(dfilter, x, dy, {stride, padding, dilation, groups});
  return dfilter;
}

PoolingResult conv_pooling(const Tensor& x, const Tensor& filter, const Tensor* bias,
                           const Pair& stride, const Pair& padding, const Pair& dilation,
                           int64_t groups, const Pair& window, const Pair& pool_stride,
                           const Pair& pool_padding, bool ceil_mode, Activation activation) {
  PoolingResult result;
  conv2d_max_pool({.x = x,
                   .filter = filter,
                   .bias = bias,
                   .conv = {stride, padding, dilation, groups},
                   .pooling = {window, pool_stride, pool_padding, ceil_mode},
                   .y = result.y,
                   .indices = &result.indices,
                   .activation = activation});
  return result;
}

ConvPoolingGradients conv_pooling_backward(const Tensor& x, const Tensor& filter, const Tensor& dy,
                                           const Tensor& indices, const Pair& stride,
                                           const Pair& padding, const Pair& dilation,
                                           int64_t groups, const Pair& window,
                                           const Pair& pool_stride, const Pair& pool_padding,
                                           bool ceil_mode) {
  ConvPoolingGradients result{Tensor(filter.shape()), {}};
  conv2d_max_pool_backward({.x = x,
                            .filter = filter,
                            .dy = dy,
                            .indices = indices,
                            .conv = {stride, padding, dilation, groups},
                            .pooling = {window, pool_stride, pool_padding, ceil_mode},
                            .dfilter = result.dfilter,
                            .dx = &result.dx});
  return result;
}

void add_convolutions(OperationGroup& table) {
  table.add(
      "conv2d(x, filter, stride = [1, 1], padding = [0, 0], dilation = [1, 1], groups = 1, "
      "bias = null, activation = \"none\", slope = 0.01)",
      "The convolution of x [n, c, h, w] with filter [k, c / groups, r, s].", conv2d_of);
  table.add(
      "conv2d_backward_data(dy, filter, shape, stride = [1, 1], padding = [0, 0], "
      "dilation = [1, 1], groups = 1)",
      "The gradient of x, which has this shape.", conv2d_dx);
  table.add(
      "conv2d_backward_filter(x, dy, shape, stride = [1, 1], padding = [0, 0], "
      "dilation = [1, 1], groups = 1)",
      "The gradient of the filter, which has this shape.", conv2d_dfilter);
  table.add(
      "conv2d_max_pool(x, filter, bias = null, stride = [1, 1], padding = [0, 0], "
      "dilation = [1, 1], groups = 1, window = [2, 2], pool_stride = [2, 2], "
      "pool_padding = [0, 0], ceil_mode = false, activation = \"none\")",
      "max_pool2d(conv2d(x)) without the convolution's whole output in memory.", conv_pooling);
  table.add(
      "conv2d_max_pool_backward(x, filter, dy, indices, stride = [1, 1], padding = [0, 0], "
      "dilation = [1, 1], groups = 1, window = [2, 2], pool_stride = [2, 2], "
      "pool_padding = [0, 0], ceil_mode = false)",
      "The gradients of conv2d_max_pool() without an activation.", conv_pooling_backward);
}

void add_pooling(OperationGroup& table) {
  table.add("max_pool2d(x, window = [2, 2], stride = [2, 2], padding = [0, 0], ceil_mode = false)",
            "The largest elements of windows, and their positions (i32) in their planes.",
            [](const Tensor& x, const Pair& window, const Pair& stride, const Pair& padding,
               bool ceil_mode) {
              const Pooling2d pooling{window, stride, padding, ceil_mode};
              const Shape shape = pooling2d_shape(x.shape(), pooling);
              PoolingResult result{Tensor(shape), Tensor(shape, DType::i32)};
              max_pool2d_into(result.y, result.indices, x, pooling);
              return result;
            });
  table.add(
      "max_pool2d_backward(dy, indices, shape, window = [2, 2], stride = [2, 2], "
      "padding = [0, 0], ceil_mode = false)",
      "The gradient of x, which has this shape.",
      [](const Tensor& dy, const Tensor& indices, const Shape& shape, const Pair& window,
         const Pair& stride, const Pair& padding, bool ceil_mode) {
        Tensor dx(shape);
        max_pool2d_backward_into(dx, dy, indices, {window, stride, padding, ceil_mode});
        return dx;
      });
  table.add(
      "average_pool2d(x, window = [2, 2], stride = [2, 2], padding = [0, 0], "
      "ceil_mode = false, count_padding = false)",
      "The means of windows. count_padding divides by the whole window.",
      [](const Tensor& x, const Pair& window, const Pair& stride, const Pair& padding,
         bool ceil_mode, bool count_padding) {
        const Pooling2d pooling{window, stride, padding, ceil_mode, count_padding};
        Tensor y(pooling2d_shape(x.shape(), pooling));
        average_pool2d_into(y, x, pooling);
        return y;
      });
  table.add(
      "average_pool2d_backward(dy, shape, window = [2, 2], stride = [2, 2], "
      "padding = [0, 0], ceil_mode = false, count_padding = false)",
      "The gradient of x, which has this shape.",
      [](const Tensor& dy, const Shape& shape, const Pair& window, const Pair& stride,
         const Pair& padding, bool ceil_mode, bool count_padding) {
        Tensor dx(shape);
        average_pool2d_backward_into(dx, dy, {window, stride, padding, ceil_mode, count_padding});
        return dx;
      });
}

void add_normalization(OperationGroup& table) {
  using In = const Tensor&;
  table.add(
      "batch_norm_train(x, gamma, beta, running_mean, running_var, eps = 1e-5, "
      "momentum = 0.1, relu = false)",
      "Normalizes each channel by the batch, and updates the running statistics.",
      [](In x, In gamma, In beta, Tensor& running_mean, Tensor& running_var, float eps,
         float momentum, bool relu) {
        BatchNormResult out{Tensor(x.shape()), Tensor(gamma.shape()), Tensor(gamma.shape())};
        batch_norm_train({x, gamma, beta, out.y, {eps, momentum, relu}},
                         {running_mean, running_var, out.mean, out.inv_std});
        return out;
      });
  table.add("batch_norm_infer(x, gamma, beta, running_mean, running_var, eps = 1e-5, relu = false)",
            "Normalizes each channel by the running statistics.",
            [](In x, In gamma, In beta, In running_mean, In running_var, float eps, bool relu) {
              Tensor y(x.shape());
              batch_norm_infer({x, gamma, beta, y, {.eps = eps, .relu = relu}}, running_mean,
                               running_var);
              return y;
            });
  table.add("batch_norm_apply(x, gamma, beta, mean, inv_std, relu = false)",
            "The y of batch_norm_train() again, from its statistics.",
            [](In x, In gamma, In beta, In mean, In inv_std, bool relu) {
              Tensor y(x.shape());
              batch_norm_apply({x, gamma, beta, y, {.relu = relu}}, mean, inv_std);
              return y;
            });
  table.add("batch_norm_backward(x, dy, gamma, mean, inv_std)",
            "The gradients of batch_norm_train().", [](In x, In dy, In gamma, In mean, In inv_std) {
              BatchNormGradients out{Tensor(x.shape()), Tensor::zeros(gamma.shape()),
                                     Tensor::zeros(gamma.shape())};
              batch_norm_backward({x, dy, gamma, mean, inv_std, out.dx, out.dgamma, out.dbeta});
              return out;
            });
  table.add("lrn(x, size = 5, alpha = 1e-4, beta = 0.75, k = 1)",
            "Local response normalization across channels.",
            [](In x, int64_t size, float alpha, float beta, float k) {
              Tensor y(x.shape());
              lrn_into(y, x, {size, alpha, beta, k});
              return y;
            });
  table.add("lrn_backward(x, y, dy, size = 5, alpha = 1e-4, beta = 0.75, k = 1)",
            "The gradient of lrn().",
            [](In x, In y, In dy, int64_t size, float alpha, float beta, float k) {
              Tensor dx(x.shape());
              lrn_backward_into(dx, x, y, dy, {size, alpha, beta, k});
              return dx;
            });
  table.add("normalize(x, mean = [], std = [])",
            "(x / 255 - mean) / std of bytes, for each channel.", normalize);
}

}  // namespace

void add_network_operations(OperationGroup&& table) {
  add_convolutions(table);
  add_pooling(table);
  add_normalization(table);
  table.add("softmax(x, axis = -1)", "exp(x) / sum(exp(x)) along the axis.", softmax);
  table.add("log_softmax(x, axis = -1)", "log(softmax(x)).", log_softmax);
  table.add("softmax_backward(y, dy, axis = -1)", "The gradient of x, from y = softmax(x).",
            softmax_backward);
  table.add("log_softmax_backward(y, dy, axis = -1)", "The gradient of x, from y = log_softmax(x).",
            log_softmax_backward);
  table.add("softmax_cross_entropy(logits, labels)",
            "The loss of each row of logits [rows, classes] for labels (i32), and probabilities.",
            softmax_cross_entropy);
  table.add("softmax_cross_entropy_backward(probabilities, labels, scale)",
            "scale * (probabilities - one_hot(labels)).", softmax_cross_entropy_backward);
}

}  // namespace kaiseki::wasm
