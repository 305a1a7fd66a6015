// SPDX-License-Identifier: MIT
#include "matrix/ops/conv_pooling.h"

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/pooling.h"
#include "matrix/conv/select.h"
#include "matrix/ops/check.h"
#include "matrix/ops/pooling.h"

namespace kaiseki {
namespace {

Shape convolved(const ConvProblem& p) { return {p.n, p.k, p.out_h(), p.out_w()}; }

void check_apart(std::string_view operation, std::string_view name, const Tensor& t,
                 std::initializer_list<const Tensor*> others) {
  for (const Tensor* other : others)
    require(!other || !overlap(*other, t), operation, "overlap of ", name,
            " and another tensor in memory; use separate tensors");
}

void check_input(std::string_view operation, std::string_view name, const Tensor& t,
                 const Shape& shape, const Tensor& with, DType dtype = DType::f32) {
  check_tensor(t, name, operation, dtype);
  check_same_device(t, with, operation);
  require(t.shape() == shape, operation, "expected ", name, " of shape ", shape, ", got ",
          t.shape());
}

bool run(const ConvProblem& problem, const Tensor& x, const ConvArgs& args) {
  bool done = false;
  run_with_conv_solvers(
      x, [&](Backend& backend) { done = run_pooled_convolution(backend, problem, args); });
  return done;
}

}  // namespace

void conv2d_max_pool(const ConvMaxPooling& pass) {
  const auto& [x, filter, bias, conv, pooling, y, indices, activation] = pass;
  constexpr std::string_view kName = "conv2d_max_pool";
  check_tensor(x, "the input", kName);
  check_input(kName, "the filter", filter, filter.shape(), x);
  const ConvProblem problem = conv_problem(x.shape(), filter.shape(), conv);
  const Shape whole = convolved(problem), shape = pooling2d_shape(whole, pooling);
  if (bias) check_input(kName, "the bias", *bias, {problem.k}, x);
  if (y.defined()) {
    check_operand(y, "the output", shape, x, kName);
    check_apart(kName, "an output", y, {&x, &filter, bias});
  }
  if (indices && indices->defined()) {
    check_operand(*indices, "the indices", shape, x, kName, DType::i32);
    check_apart(kName, "indices", *indices, {&x, &filter, bias, &y});
  }
  require(activation == Activation::none || activation == Activation::relu, kName,
          "only the activations none and relu can be combined with pooling");
  PoolingArgs args = pooling_args(whole, shape, pooling, true);
  args.y = &y;
  args.indices = indices;
  Tensor input = x.contiguous(), weights = filter.contiguous();
  const Tensor shift = bias ? bias->contiguous() : Tensor();
  if (shape.elements() > 0 && run(problem, x,
                                  {.x = &input,
                                   .filter = &weights,
                                   .bias = bias ? &shift : nullptr,
                                   .activation = activation,
                                   .pooling = &args}))
    return;
  Tensor between(whole, DType::f32, x.device());
  conv2d_into(between, input, weights, conv, {.bias = bias, .activation = activation});
  Tensor places = indices ? *indices : Tensor();
  if (!y.defined()) y = Tensor(shape, DType::f32, x.device());
  if (!places.defined()) places = Tensor(shape, DType::i32, x.device());
  max_pool2d_into(y, places, between, pooling);
  if (indices) *indices = places;
}

void conv2d_max_pool_backward(ConvMaxPoolingBackward pass) {
  const Tensor &x = pass.x, &filter = pass.filter;
  Tensor &dy = pass.dy, &indices = pass.indices, &dfilter = pass.dfilter;
  Tensor* const dx = pass.dx;
  constexpr std::string_view kName = "conv2d_max_pool_backward";
  check_tensor(x, "the input", kName);
  check_input(kName, "the filter", filter, filter.shape(), x);
  ConvProblem problem = conv_problem(x.shape(), filter.shape(), pass.conv);
  const Shape whole = convolved(problem), shape = pooling2d_shape(whole, pass.pooling);
  check_input(kName, "the output's gradient", dy, shape, x);
  check_input(kName, "the indices", indices, shape, x, DType::i32);
  check_operand(dfilter, "the filter's gradient", filter.shape(), x, kName);
  check_apart(kName, "a filter's gradient", dfilter, {&x, &filter, &dy, &indices});
  if (dx && dx->defined()) {
    check_operand(*dx, "the input's gradient", x.shape(), x, kName);
    check_apart(kName, "an input's gradient", *dx, {&x, &filter, &dy, &indices, &dfilter});
  }
  PoolingArgs args = pooling_args(whole, shape, pass.pooling, true);
  dy = dy.contiguous(), indices = indices.contiguous();
  args.dy = &dy;
  args.indices = &indices;
  Tensor input = x.contiguous(), weights = filter.contiguous(), unpooled;
  const auto unpool = [&] {
    if (unpooled.defined()) return;
    unpooled = Tensor(whole, DType::f32, x.device());
    max_pool2d_backward_into(unpooled, dy, indices, pass.pooling);
    dy = {}, indices = {};
  };
  // No solver fuses pooling there, so dx is allocated after dy is released.
  if (!x.device().is_cpu()) unpool();
  if (dx) {
    if (!dx->defined()) *dx = Tensor(x.shape(), DType::f32, x.device());
    problem.direction = ConvDirection::backward_data;
    if (unpooled.defined() || x.size() == 0 ||
        !run(problem, x, {.x = dx, .filter = &weights, .pooling = &args})) {
      unpool();
      conv2d_backward_data_into(*dx, unpooled, weights, pass.conv);
    }
  }
  problem.direction = ConvDirection::backward_filter;
  if (unpooled.defined() || x.size() == 0 ||
      !run(problem, x, {.x = &input, .filter = &dfilter, .beta = pass.beta, .pooling = &args})) {
    unpool();
    conv2d_backward_filter_into(dfilter, input, unpooled, pass.conv, pass.beta);
  }
}

}  // namespace kaiseki
