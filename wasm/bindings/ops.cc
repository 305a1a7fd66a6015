// SPDX-License-Identifier: MIT
// Operations that make new tensors.
#include <vector>

#include "matrix/ops/conv.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/ops/pooling.h"
#include "matrix/ops/random.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/softmax.h"
#include "wasm/bindings/call.h"

namespace kaiseki::wasm {

KAISEKI_EXPORT Tensor* kaiseki_matmul(const Tensor* a, const Tensor* b, bool transpose_a,
                                      bool transpose_b) {
  return guarded([&] { return handle(matmul(*a, *b, transpose_a, transpose_b)); });
}

/// Binds each name to a tensor, or to a number if the tensor is null.
KAISEKI_EXPORT Tensor* kaiseki_elementwise(const char* expression, int count,
                                           const char* const* names, Tensor* const* tensors,
                                           const float* scalars) {
  return guarded([&] {
    std::vector<Binding> bindings;
    for (int i = 0; i < count; ++i)
      if (tensors[i])
        bindings.emplace_back(names[i], *tensors[i]);
      else
        bindings.emplace_back(names[i], scalars[i]);
    return handle(elementwise(expression, bindings));
  });
}

/// `kind` is a value of Reduction. Without axes it reduces all of them.
KAISEKI_EXPORT Tensor* kaiseki_reduce(int kind, const Tensor* x, int count, const int* axes,
                                      bool keep_dims) {
  return guarded([&] {
    return handle(reduce(static_cast<Reduction>(kind), *x, Axes(axes, axes + count), keep_dims));
  });
}

KAISEKI_EXPORT Tensor* kaiseki_arg(bool largest, const Tensor* x, int axis) {
  return guarded([&] { return handle(largest ? argmax(*x, axis) : argmin(*x, axis)); });
}

KAISEKI_EXPORT Tensor* kaiseki_softmax(bool logarithm, const Tensor* x, int axis) {
  return guarded([&] { return handle(logarithm ? log_softmax(*x, axis) : softmax(*x, axis)); });
}

KAISEKI_EXPORT Tensor* kaiseki_concatenate(int count, Tensor* const* parts, int axis) {
  return guarded([&] {
    std::vector<Tensor> all;
    for (int i = 0; i < count; ++i) all.push_back(*parts[i]);
    return handle(concatenate(all, axis));
  });
}

KAISEKI_EXPORT Tensor* kaiseki_take(const Tensor* x, const Tensor* indices, int axis) {
  return guarded([&] { return handle(take(*x, *indices, axis)); });
}

/// `numbers`: stride, padding and dilation, two each, then the groups. `bias` may be null.
KAISEKI_EXPORT Tensor* kaiseki_conv2d(const Tensor* x, const Tensor* filter, const Tensor* bias,
                                      const int32_t* numbers) {
  return guarded([&] {
    const Conv2d conv{
        {numbers[0], numbers[1]}, {numbers[2], numbers[3]}, {numbers[4], numbers[5]}, numbers[6]};
    const ConvProblem problem = conv_problem(x->shape(), filter->shape(), conv);
    Tensor y({problem.n, problem.k, problem.out_h(), problem.out_w()}, DType::f32, Device::cpu());
    conv2d_into(y, *x, *filter, conv, {.bias = bias});
    return handle(std::move(y));
  });
}

/// `numbers`: window, stride and padding, two each.
KAISEKI_EXPORT Tensor* kaiseki_pool2d(bool average, const Tensor* x, const int32_t* numbers) {
  return guarded([&] {
    const Pooling2d pooling{
        {numbers[0], numbers[1]}, {numbers[2], numbers[3]}, {numbers[4], numbers[5]}};
    Tensor y(pooling2d_shape(x->shape(), pooling), DType::f32, Device::cpu());
    if (average) {
      average_pool2d_into(y, *x, pooling);
    } else {
      Tensor indices(y.shape(), DType::i32, Device::cpu());
      max_pool2d_into(y, indices, *x, pooling);
    }
    return handle(std::move(y));
  });
}

/// Draws uniformly from [a, b), or from the normal distribution with mean a and standard deviation
/// b.
KAISEKI_EXPORT Tensor* kaiseki_random(bool normal, int rank, const int32_t* dims, double seed,
                                      float a, float b) {
  return guarded([&] {
    Tensor out(shape_of(dims, rank), DType::f32, Device::cpu());
    Random random(static_cast<uint64_t>(seed));
    if (normal)
      random_normal_into(out, random, a, b);
    else
      random_uniform_into(out, random, a, b);
    return handle(std::move(out));
  });
}

}  // namespace kaiseki::wasm
