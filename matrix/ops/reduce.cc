// SPDX-License-Identifier: MIT
// Resolves axes, merges neighboring axes that are all reduced or all kept, and shapes the result.
#include "matrix/ops/reduce.h"

#include <array>
#include <limits>

#include "matrix/axis_split.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/fold.h"
#include "matrix/ops/check.h"
#include "matrix/ops/elementwise.h"
#include "matrix/out_of_core/divide.h"

namespace kaiseki {
namespace {

constexpr std::string_view kName = "reduce";
using Flags = std::array<bool, Shape::kMaxRank>;

Shape result_shape(const Shape& shape, const Flags& reduced, bool keep_dims) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i)
    if (!reduced[i])
      result.push_back(shape[i]);
    else if (keep_dims)
      result.push_back(1);
  return result;
}

/// The shape with neighboring axes merged if all are reduced or none is.
ReduceArgs merged(const Shape& shape, const Flags& reduced) {
  ReduceArgs args{};
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    int last = args.shape.rank() - 1;
    if (last >= 0 && args.reduced[last] == reduced[i]) {
      args.shape[last] *= shape[i];
    } else {
      args.shape.push_back(shape[i]);
      args.reduced[last + 1] = reduced[i];
    }
  }
  if (args.shape.rank() == 0) {
    args.shape.push_back(1);
    args.reduced[0] = true;
  }
  return args;
}

void check_extreme(Reduction kind, const Tensor& x, const Tensor& out) {
  const bool extreme = kind == Reduction::max || kind == Reduction::min;
  require(!extreme || x.size() > 0 || out.size() == 0, kName, "expected elements for the ",
          kind == Reduction::max ? "maximum" : "minimum", ", got shape ", x.shape());
}

void run(Reduction kind, const Tensor& x, const Flags& reduced, Tensor& out, float beta) {
  check_extreme(kind, x, out);
  if (out.size() == 0) return;
  Tensor input = x.contiguous();
  ReduceArgs args = merged(x.shape(), reduced);
  args.kind = kind;
  args.input = &input;
  args.output = &out;
  args.beta = beta;
  run_divisible(kReduce, out, args,
                is_small_task(out, {&input}, static_cast<double>(input.size())));
}

bool is_logical(Reduction kind) { return kind == Reduction::any || kind == Reduction::all; }

/// Returns whether f32 and f64 have this reduction in kReduce, which is faster.
bool has_own_kernel(Reduction kind) { return kind != Reduction::prod && !is_logical(kind); }

/// Returns whether integers and bools are converted to f32 before this reduction.
bool has_real_result(Reduction kind) {
  return kind == Reduction::mean || kind == Reduction::sum_of_squares;
}

DType folded_type(Reduction kind, DType dtype) {
  if (is_logical(kind)) return DType::boolean;
  const bool adds = kind == Reduction::sum || kind == Reduction::prod;
  return adds && !is_floating(dtype) ? DType::i32 : dtype;
}

/// Reduces one run of axes after the other, from the last to the first.
Tensor fold(Reduction kind, const Tensor& x, const Flags& reduced, const Shape& shape) {
  Tensor out(shape, folded_type(kind, x.dtype()), x.device());
  check_extreme(kind, x, out);
  if (out.size() == 0) return out;
  ReduceArgs args = merged(x.shape(), reduced);
  Shape left = args.shape;
  Tensor current = x.contiguous();
  bool changed = false;
  for (int axis = left.rank() - 1; axis >= 0; --axis) {
    // A tensor of one element still changes its type.
    if (!args.reduced[axis] && (axis > 0 || changed)) continue;
    AxisSplit split(left, axis);
    if (!args.reduced[axis]) split = AxisSplit(Shape{left.elements(), 1}, 1);
    if (args.reduced[axis]) left[axis] = 1;
    Tensor next(left, out.dtype(), x.device());
    run_operation(kFold, next, {kind, split.outer, split.n, split.inner, &current, &next},
                  is_small_task(next, {&current}, static_cast<double>(current.size())));
    current = next;
    changed = true;
  }
  return current.reshape(shape);
}

Tensor arg_reduce(bool maximum, const Tensor& x, int axis) {
  constexpr std::string_view kArgName = "argmax";
  check_defined(x, "x", kArgName);
  const int along = x.shape().index(axis);
  const AxisSplit split(x.shape(), along);
  Tensor out(without_axis(x.shape(), along), DType::i32, x.device());
  require(split.n > 0 || out.size() == 0, kArgName, "expected elements along axis ", along,
          ", got shape ", x.shape());
  require(split.n <= std::numeric_limits<int32_t>::max(), kArgName,
          "expected an axis under 2^31, got ", split.n);
  if (out.size() == 0) return out;
  Tensor input = x.contiguous();
  run_operation(kArgReduce, out, {maximum, &input, split.outer, split.n, split.inner, &out},
                is_small_task(out, {&input}, static_cast<double>(input.size())));
  return out;
}

Tensor flat(const Tensor& x) {
  check_defined(x, "x", "argmax");
  return x.contiguous().reshape({x.size()});
}

}  // namespace

Tensor reduce(Reduction kind, const Tensor& given, const Axes& axes, bool keep_dims) {
  check_defined(given, "x", kName);
  const bool converts = has_real_result(kind) && !is_floating(given.dtype());
  const Tensor x = converts ? cast(given, DType::f32) : given;
  Flags reduced = named_axes(x.shape(), axes, kName);
  const Shape shape = result_shape(x.shape(), reduced, keep_dims);
  if (!is_floating(x.dtype()) || !has_own_kernel(kind)) return fold(kind, x, reduced, shape);
  Tensor out(shape, x.dtype(), x.device());
  run(kind, x, reduced, out, 0);
  return out;
}

Tensor sum(const Tensor& x, const Axes& axes, bool keep_dims) {
  return reduce(Reduction::sum, x, axes, keep_dims);
}
Tensor mean(const Tensor& x, const Axes& axes, bool keep_dims) {
  return reduce(Reduction::mean, x, axes, keep_dims);
}
Tensor max(const Tensor& x, const Axes& axes, bool keep_dims) {
  return reduce(Reduction::max, x, axes, keep_dims);
}
Tensor min(const Tensor& x, const Axes& axes, bool keep_dims) {
  return reduce(Reduction::min, x, axes, keep_dims);
}

Tensor prod(const Tensor& x, const Axes& axes, bool keep_dims) {
  return reduce(Reduction::prod, x, axes, keep_dims);
}
Tensor any(const Tensor& x, const Axes& axes, bool keep_dims) {
  return reduce(Reduction::any, x, axes, keep_dims);
}
Tensor all(const Tensor& x, const Axes& axes, bool keep_dims) {
  return reduce(Reduction::all, x, axes, keep_dims);
}

void reduce_into(Tensor& out, Reduction kind, const Tensor& x, const Axes& axes, float beta) {
  check_real(x, "x", kName);
  require(has_own_kernel(kind), kName, "prod, any and all cannot write into a given output");
  Flags reduced = named_axes(x.shape(), axes, kName);
  check_operand(out, "the result", result_shape(x.shape(), reduced, false), x, kName, x.dtype());
  require(!overlap(x, out), kName, "the result overlaps x in memory; use separate tensors");
  run(kind, x, reduced, out, beta);
}

Tensor argmax(const Tensor& x, int axis) { return arg_reduce(true, x, axis); }
Tensor argmin(const Tensor& x, int axis) { return arg_reduce(false, x, axis); }
Tensor argmax(const Tensor& x) { return arg_reduce(true, flat(x), 0); }
Tensor argmin(const Tensor& x) { return arg_reduce(false, flat(x), 0); }

}  // namespace kaiseki
