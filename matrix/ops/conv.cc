// SPDX-License-Identifier: MIT
#include "matrix/ops/conv.h"

#include "matrix/conv/select.h"
#include "matrix/ops/check.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"

namespace kaiseki {
namespace {

void check_tensor(std::string_view operation, std::string_view name, const Tensor& t,
                  Device device) {
  require(t.defined() && t.dtype() == DType::f32, operation, "expected f32 for ", name, ", got ",
          t.defined() ? dtype_name(t.dtype()) : "no tensor");
  require(t.device() == device, operation, "expected ", name, " on ", device.name(), ", got ",
          t.device().name());
}

void check_output(std::string_view operation, std::string_view name, const Tensor& t,
                  const Shape& shape, std::initializer_list<const Tensor*> inputs) {
  require(t.shape() == shape, operation, "expected ", name, " of shape ", shape, ", got ",
          t.shape());
  require(t.is_contiguous(), operation, "expected ", name, " to be contiguous, got strides ",
          t.strides());
  for (const Tensor* input : inputs)
    require(!overlap(*input, t), operation, "expected ", name,
            " apart from what is read, got one storage for both");
}

/// Sides of at most 2^29: a position in the padded input is an int, and no product overflows.
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
  for (int i = 0; i < 2; ++i) {
    check_range(operation, "a stride", conv.stride[i], 1);
    check_range(operation, "a padding", conv.padding[i], 0);
    check_range(operation, "a dilation", conv.dilation[i], 1);
    check_range(operation, "a filter's side", filter[2 + i], 1);
    check_range(operation, "an input's side", x[2 + i], 1);
  }
  require(conv.groups >= 1 && x[1] % conv.groups == 0 && filter[0] % conv.groups == 0, operation,
          "expected channels that ", conv.groups, " groups divide, got input ", x, " and filter ",
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
                      .groups = conv.groups};
  const int64_t reach_h = conv.dilation[0] * (problem.r - 1) + 1;
  const int64_t reach_w = conv.dilation[1] * (problem.s - 1) + 1;
  require(problem.h + 2 * conv.padding[0] >= reach_h && problem.w + 2 * conv.padding[1] >= reach_w,
          operation, "expected an input that holds the filter's ", reach_h, "x", reach_w,
          " with its padding, got ", x, " padded by ", conv.padding[0], "x", conv.padding[1]);
  return problem;
}

Shape output_shape(const ConvProblem& p) { return {p.n, p.k, p.out_h(), p.out_w()}; }

}  // namespace

ConvProblem conv_problem(const Shape& x, const Shape& filter, const Conv2d& conv) {
  return checked_problem("conv2d", x, filter, conv);
}

void conv2d(const Tensor& x, const Tensor& filter, const Tensor* bias, const Conv2d& conv,
            Tensor& y, Activation activation, float slope) {
  constexpr std::string_view kName = "conv2d";
  check_tensor(kName, "the input", x, x.device());
  check_tensor(kName, "the filter", filter, x.device());
  check_tensor(kName, "the output", y, x.device());
  const ConvProblem problem = checked_problem(kName, x.shape(), filter.shape(), conv);
  check_output(kName, "an output", y, output_shape(problem), {&x, &filter});
  Tensor input = x.contiguous(), weights = filter.contiguous(), shift;
  if (bias) {
    check_tensor(kName, "the bias", *bias, x.device());
    require(bias->shape() == Shape{problem.k}, kName, "expected a bias of shape ", Shape{problem.k},
            ", got ", bias->shape());
    require(!overlap(*bias, y), kName,
            "expected an output apart from the bias, got one storage for both");
    shift = bias->contiguous();
  }
  if (y.size() == 0) return;
  run_operation(Op::convolution, x, [&](Backend& backend) {
    run_convolution(backend, problem,
                    {.x = &input,
                     .filter = &weights,
                     .y = &y,
                     .bias = bias ? &shift : nullptr,
                     .activation = activation,
                     .slope = slope});
  });
}

void conv2d_backward_data(const Tensor& dy, const Tensor& filter, const Conv2d& conv, Tensor& dx) {
  constexpr std::string_view kName = "conv2d_backward_data";
  check_tensor(kName, "the output's gradient", dy, dy.device());
  check_tensor(kName, "the filter", filter, dy.device());
  check_tensor(kName, "the input's gradient", dx, dy.device());
  ConvProblem problem = checked_problem(kName, dx.shape(), filter.shape(), conv);
  problem.direction = ConvDirection::backward_data;
  require(dy.shape() == output_shape(problem), kName, "expected an output's gradient of shape ",
          output_shape(problem), ", got ", dy.shape());
  check_output(kName, "an input's gradient", dx, dx.shape(), {&dy, &filter});
  if (dx.size() == 0) return;
  Tensor gradient = dy.contiguous(), weights = filter.contiguous();
  run_operation(Op::convolution, dy, [&](Backend& backend) {
    run_convolution(backend, problem, {.x = &dx, .filter = &weights, .y = &gradient});
  });
}

void conv2d_backward_filter(const Tensor& x, const Tensor& dy, const Conv2d& conv, Tensor& dfilter,
                            float beta) {
  constexpr std::string_view kName = "conv2d_backward_filter";
  check_tensor(kName, "the input", x, x.device());
  check_tensor(kName, "the output's gradient", dy, x.device());
  check_tensor(kName, "the filter's gradient", dfilter, x.device());
  ConvProblem problem = checked_problem(kName, x.shape(), dfilter.shape(), conv);
  problem.direction = ConvDirection::backward_filter;
  require(dy.shape() == output_shape(problem), kName, "expected an output's gradient of shape ",
          output_shape(problem), ", got ", dy.shape());
  check_output(kName, "a filter's gradient", dfilter, dfilter.shape(), {&x, &dy});
  if (problem.n == 0) {
    if (beta == 0)
      fill(dfilter, 0);
    else
      update("g = beta * g", {{"beta", beta}, {"g", dfilter}});
    return;
  }
  Tensor input = x.contiguous(), gradient = dy.contiguous();
  run_operation(Op::convolution, x, [&](Backend& backend) {
    run_convolution(backend, problem,
                    {.x = &input, .filter = &dfilter, .y = &gradient, .beta = beta});
  });
}

}  // namespace kaiseki
