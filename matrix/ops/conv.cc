// SPDX-License-Identifier: MIT
#include "matrix/ops/conv.h"

#include "matrix/backend/dispatch.h"
#include "matrix/conv/out_of_core/run.h"
#include "matrix/conv/select.h"
#include "matrix/has_devices.h"
#include "matrix/ops/check.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"

namespace kaiseki {
namespace {

/// Limits sides to 2^29, so that a position in the padded input fits an int and no product
/// overflows.
void check_range(std::string_view operation, std::string_view name, int64_t value, int64_t least) {
  constexpr int64_t kMost = int64_t{1} << 29;
  require(value >= least && value <= kMost, operation, "expected ", name, " from ", least, " to ",
          kMost, ", got ", value);
}

ConvProblem checked_problem(std::string_view operation, const Shape& x, const Shape& filter,
                            const Conv2d& conv) {
  require(x.rank() == 4, operation, "expected an input [n, c, h, w], got ", x);
  require(filter.rank() == 4, operation, "expected a filter [k, c/groups, r, s], got ", filter);
  require(filter[0] >= 1 && filter[1] >= 1 && filter[2] >= 1 && filter[3] >= 1, operation,
          "expected a filter with elements, got ", filter);
  const std::array<int64_t, 2> end = conv.end_padding.value_or(conv.padding);
  for (int i = 0; i < 2; ++i) {
    check_range(operation, "a stride", conv.stride[i], 1);
    check_range(operation, "a padding", conv.padding[i], 0);
    check_range(operation, "a padding at the end", end[i], 0);
    check_range(operation, "a dilation", conv.dilation[i], 1);
    check_range(operation, "a filter's side", filter[2 + i], 1);
    check_range(operation, "an input's side", x[2 + i], 1);
  }
  require(conv.groups >= 1 && x[1] % conv.groups == 0 && filter[0] % conv.groups == 0, operation,
          "expected channels divisible by ", conv.groups, " groups, got input ", x, " and filter ",
          filter);
  require(x[1] == filter[1] * conv.groups, operation, "expected ", filter[1] * conv.groups,
          " input channels for filter ", filter, " in ", conv.groups, " groups, got input ", x);
  ConvProblem problem{.n = x[0],
                      .c = x[1],
                      .h = x[2],
                      .w = x[3],
                      .k = filter[0],
                      .r = filter[2],
                      .s = filter[3],
                      .stride = conv.stride,
                      .padding = conv.padding,
                      .dilation = conv.dilation,
                      .groups = conv.groups,
                      .extra_padding = {end[0] - conv.padding[0], end[1] - conv.padding[1]}};
  const int64_t reach_h = conv.dilation[0] * (problem.r - 1) + 1;
  const int64_t reach_w = conv.dilation[1] * (problem.s - 1) + 1;
  const int64_t padding_h = conv.padding[0] + end[0], padding_w = conv.padding[1] + end[1];
  require(problem.h + padding_h >= reach_h && problem.w + padding_w >= reach_w, operation,
          "expected an input with its padding of at least the filter's ", reach_h, "x", reach_w,
          ", got ", x, " with ", padding_h, "x", padding_w, " of padding");
  return problem;
}

Shape output_shape(const ConvProblem& p) { return {p.n, p.k, p.out_h(), p.out_w()}; }

void run(Backend& backend, const ConvProblem& problem, const ConvArgs& args) {
  const BufferHold holds[] = {BufferHold(args.x->buffer()), BufferHold(args.filter->buffer()),
                              BufferHold(args.y->buffer())};
  if (kHasDevices && backend.device() == args.x->device() && !conv::bring_back(args))
    conv::run_in_pieces(backend, problem, args);
  else
    run_convolution(backend, problem, args);
}

}  // namespace

ConvProblem conv_problem(const Shape& x, const Shape& filter, const Conv2d& conv) {
  return checked_problem("conv2d", x, filter, conv);
}

void conv2d_into(Tensor& y, const Tensor& x, const Tensor& filter, const Conv2d& conv,
                 const ConvEpilogue& epilogue) {
  const Tensor* bias = epilogue.bias;
  constexpr std::string_view kName = "conv2d";
  check_tensor(x, "the input", kName, x.device());
  check_tensor(filter, "the filter", kName, x.device());
  check_tensor(y, "the output", kName, x.device());
  const ConvProblem problem = checked_problem(kName, x.shape(), filter.shape(), conv);
  check_output(y, "an output", output_shape(problem), {&x, &filter}, kName);
  Tensor input = x.contiguous(), weights = filter.contiguous(), shift;
  if (bias) {
    check_tensor(*bias, "the bias", kName, x.device());
    require(bias->shape() == Shape{problem.k}, kName, "expected a bias of shape ", Shape{problem.k},
            ", got ", bias->shape());
    require(!overlap(*bias, y), kName,
            "an output overlaps the bias in memory; use separate tensors");
    shift = bias->contiguous();
  }
  if (y.size() == 0) return;
  run_with_conv_solvers(x, [&](Backend& backend) {
    run(backend, problem,
        {.x = &input,
         .filter = &weights,
         .y = &y,
         .bias = bias ? &shift : nullptr,
         .activation = epilogue.activation,
         .slope = epilogue.slope});
  });
}

void conv2d_backward_data_into(Tensor& dx, const Tensor& dy, const Tensor& filter,
                               const Conv2d& conv) {
  constexpr std::string_view kName = "conv2d_backward_data";
  check_tensor(dy, "the output's gradient", kName, dy.device());
  check_tensor(filter, "the filter", kName, dy.device());
  check_tensor(dx, "the input's gradient", kName, dy.device());
  ConvProblem problem = checked_problem(kName, dx.shape(), filter.shape(), conv);
  problem.direction = ConvDirection::backward_data;
  require(dy.shape() == output_shape(problem), kName, "expected an output's gradient of shape ",
          output_shape(problem), ", got ", dy.shape());
  check_output(dx, "an input's gradient", dx.shape(), {&dy, &filter}, kName);
  if (dx.size() == 0) return;
  Tensor gradient = dy.contiguous(), weights = filter.contiguous();
  run_with_conv_solvers(dy, [&](Backend& backend) {
    run(backend, problem, {.x = &dx, .filter = &weights, .y = &gradient});
  });
}

void conv2d_backward_filter_into(Tensor& dfilter, const Tensor& x, const Tensor& dy,
                                 const Conv2d& conv, float beta) {
  constexpr std::string_view kName = "conv2d_backward_filter";
  check_tensor(x, "the input", kName, x.device());
  check_tensor(dy, "the output's gradient", kName, x.device());
  check_tensor(dfilter, "the filter's gradient", kName, x.device());
  ConvProblem problem = checked_problem(kName, x.shape(), dfilter.shape(), conv);
  problem.direction = ConvDirection::backward_filter;
  require(dy.shape() == output_shape(problem), kName, "expected an output's gradient of shape ",
          output_shape(problem), ", got ", dy.shape());
  check_output(dfilter, "a filter's gradient", dfilter.shape(), {&x, &dy}, kName);
  if (problem.n == 0) {
    if (beta == 0)
      fill(dfilter, 0);
    else
      update("g = beta * g", {{"beta", beta}, {"g", dfilter}});
    return;
  }
  Tensor input = x.contiguous(), gradient = dy.contiguous();
  run_with_conv_solvers(x, [&](Backend& backend) {
    run(backend, problem, {.x = &input, .filter = &dfilter, .y = &gradient, .beta = beta});
  });
}

}  // namespace kaiseki
