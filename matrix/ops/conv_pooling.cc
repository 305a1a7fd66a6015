// SPDX-License-Identifier: MIT
#include "matrix/ops/conv_pooling.h"

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/pooling.h"
#include "matrix/conv/select.h"
#include "matrix/has_devices.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/ops/check.h"
#include "matrix/ops/pooling.h"
#include "matrix/out_of_core/run.h"
#include "matrix/out_of_core/size.h"

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
  const BufferHold holds[] = {BufferHold(args.x->buffer()), BufferHold(args.filter->buffer())};
  run_with_conv_solvers(
      x, [&](Backend& backend) { done = run_pooled_convolution(backend, problem, args); });
  return done;
}

/// Returns the convolution's whole output. Returns nothing if the device has no room for it, and
/// parts of the batch can run instead.
std::optional<Tensor> whole_output(const ConvProblem& problem, const Tensor& x, const Tensor& y,
                                   const Tensor& indices, bool divides) {
  const std::array<const Tensor*, 3> others = {&x, &y, &indices};
  if (kHasDevices && divides && !pieces::bring_back(others)) return {};
  try {
    Tensor output(convolved(problem), DType::f32, x.device());
    if (!divides || !output.buffer().left_device()) return output;
  } catch (const OutOfMemory&) {
    if (!divides || !tensors_can_leave(x.device())) throw;
  }
  return {};
}

/// `of_batch`: tensors of the batch. `others`: tensors that every part uses as a whole.
pieces::Division parts_of_batch(const ConvProblem& problem,
                                std::initializer_list<pieces::PieceOperand> of_batch,
                                std::initializer_list<const Tensor*> others) {
  const int64_t outputs = convolved(problem).elements();
  const auto window = static_cast<double>(problem.c / problem.groups * problem.r * problem.s);
  pieces::Division parts{.cuts = {{.length = problem.n}},
                         .operands = {},
                         .multiply_adds = static_cast<double>(outputs) * window,
                         .scratch_bytes = sizeof(float) * static_cast<uint64_t>(outputs)};
  for (pieces::PieceOperand one : of_batch) {
    one.axes = {0};
    if (one.whole.defined()) parts.operands.push_back(std::move(one));
  }
  for (const Tensor* one : others)
    if (one) parts.operands.push_back({*one, Access::read, {kWhole}});
  return parts;
}

/// Returns false if there is no room for one sample. Nothing is computed then.
bool run_parts(std::string_view operation, Device device, const pieces::Division& parts,
               const pieces::RunPiece& run) {
  bool begins = false;
  try {
    pieces::run_in_pieces(operation, device, parts,
                          [&](std::span<Tensor> tensors, const pieces::PieceRange& range) {
                            begins = true;
                            run(tensors, range);
                          });
    return true;
  } catch (const OutOfMemory&) {
    if (begins) throw;
    return false;
  }
}

/// With `divides`, parts of the batch run if there is no room for the convolution's output.
void forward(const ConvMaxPooling& pass, bool divides);
void backward(ConvMaxPoolingBackward& pass, bool divides);

bool forward_in_parts(const ConvMaxPooling& pass, const ConvProblem& problem, Tensor& y,
                      Tensor& places) {
  const auto parts =
      parts_of_batch(problem, {{pass.x, Access::read}, {y, Access::write}, {places, Access::write}},
                     {&pass.filter, pass.bias});
  const auto run = [&](std::span<Tensor> tensors, const pieces::PieceRange&) {
    forward({.x = tensors[0],
             .filter = pass.filter,
             .bias = pass.bias,
             .conv = pass.conv,
             .pooling = pass.pooling,
             .y = tensors[1],
             .indices = &tensors[2],
             .activation = pass.activation},
            false);
  };
  return run_parts("conv2d_max_pool", pass.x.device(), parts, run);
}

/// dx may be nullptr.
bool backward_in_parts(const ConvMaxPoolingBackward& pass, const ConvProblem& problem, Tensor* dx) {
  if (dx && !dx->defined()) *dx = Tensor(pass.x.shape(), DType::f32, pass.x.device());
  const auto parts = parts_of_batch(problem,
                                    {{pass.x, Access::read},
                                     {pass.dy, Access::read},
                                     {pass.indices, Access::read},
                                     {dx ? *dx : Tensor(), Access::write}},
                                    {&pass.filter, &pass.dfilter});
  const auto run = [&](std::span<Tensor> tensors, const pieces::PieceRange& range) {
    ConvMaxPoolingBackward part{.x = tensors[0],
                                .filter = pass.filter,
                                .dy = tensors[1],
                                .indices = tensors[2],
                                .conv = pass.conv,
                                .pooling = pass.pooling,
                                .dfilter = pass.dfilter,
                                .beta = range.first ? 1 : pass.beta,
                                .dx = dx ? &tensors[3] : nullptr};
    backward(part, false);
  };
  return run_parts("conv2d_max_pool_backward", pass.x.device(), parts, run);
}

void forward(const ConvMaxPooling& pass, bool divides) {
  const auto& [x, filter, bias, conv, pooling, y, indices, activation] = pass;
  const ConvProblem problem = conv_problem(x.shape(), filter.shape(), conv);
  const Shape whole = convolved(problem), shape = pooling2d_shape(whole, pooling);
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
  Tensor places = indices ? *indices : Tensor();
  if (!y.defined()) y = Tensor(shape, DType::f32, x.device());
  if (!places.defined()) places = Tensor(shape, DType::i32, x.device());
  divides &= problem.n > 1;
  std::optional<Tensor> between = whole_output(problem, input, y, places, divides);
  if (between || !kHasDevices || !forward_in_parts(pass, problem, y, places)) {
    if (!between) between = Tensor(whole, DType::f32, x.device());
    conv2d_into(*between, input, weights, conv, {.bias = bias, .activation = activation});
    max_pool2d_into(y, places, *between, pooling);
  }
  if (indices) *indices = places;
}

void backward(ConvMaxPoolingBackward& pass, bool divides) {
  const Tensor &x = pass.x, &filter = pass.filter;
  Tensor &dy = pass.dy, &indices = pass.indices, &dfilter = pass.dfilter;
  Tensor* const dx = pass.dx;
  ConvProblem problem = conv_problem(x.shape(), filter.shape(), pass.conv);
  const Shape whole = convolved(problem), shape = pooling2d_shape(whole, pass.pooling);
  divides &= problem.n > 1;
  PoolingArgs args = pooling_args(whole, shape, pass.pooling, true);
  dy = dy.contiguous(), indices = indices.contiguous();
  args.dy = &dy;
  args.indices = &indices;
  Tensor input = x.contiguous(), weights = filter.contiguous();
  std::optional<Tensor> unpooled;
  // Returns false if the parts of the batch computed all that was left.
  const auto unpool = [&](Tensor* left_dx) {
    if (unpooled) return true;
    unpooled = whole_output(problem, input, dy, indices, divides);
    if (!unpooled) {
      if (kHasDevices && backward_in_parts(pass, problem, left_dx)) return false;
      unpooled = Tensor(whole, DType::f32, x.device());
    }
    max_pool2d_backward_into(*unpooled, dy, indices, pass.pooling);
    dy = {}, indices = {};
    return true;
  };
  // No solver fuses pooling there, so dx is allocated after dy is released.
  if (!x.device().is_cpu() && !unpool(dx)) return;
  if (dx) {
    if (!dx->defined()) *dx = Tensor(x.shape(), DType::f32, x.device());
    problem.direction = ConvDirection::backward_data;
    if (unpooled || x.size() == 0 ||
        !run(problem, x, {.x = dx, .filter = &weights, .pooling = &args})) {
      if (!unpool(dx)) return;
      conv2d_backward_data_into(*dx, *unpooled, weights, pass.conv);
    }
  }
  problem.direction = ConvDirection::backward_filter;
  if (unpooled || x.size() == 0 ||
      !run(problem, x, {.x = &input, .filter = &dfilter, .beta = pass.beta, .pooling = &args})) {
    if (!unpool(nullptr)) return;
    conv2d_backward_filter_into(dfilter, input, *unpooled, pass.conv, pass.beta);
  }
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
  forward(pass, true);
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
  backward(pass, true);
}

}  // namespace kaiseki
