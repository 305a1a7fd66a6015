// SPDX-License-Identifier: MIT
// Resolves axes, merges neighboring axes that are all reduced or all kept, and shapes the result.
#include "matrix/ops/reduce.h"

#include <array>

#include "matrix/backend/dispatch.h"
#include "matrix/ops/check.h"

namespace kaiseki {
namespace {

constexpr std::string_view kName = "reduce";
using Flags = std::array<bool, Shape::kMaxRank>;

Flags reduced_axes(const Shape& shape, const Axes& axes) {
  Flags reduced{};
  if (axes.empty()) reduced.fill(true);
  for (int axis : axes) {
    int i = shape.index(axis);
    require(!reduced[i], kName, "expected each axis once, got axis ", i, " twice");
    reduced[i] = true;
  }
  return reduced;
}

Shape result_shape(const Shape& shape, const Flags& reduced, bool keep_dims) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i)
    if (!reduced[i])
      result.push_back(shape[i]);
    else if (keep_dims)
      result.push_back(1);
  return result;
}

void run(Reduction kind, const Tensor& x, const Flags& reduced, Tensor& out, float beta) {
  bool adds = kind != Reduction::max && kind != Reduction::min;
  require(adds || x.size() > 0 || out.size() == 0, kName, "expected elements for the ",
          kind == Reduction::max ? "maximum" : "minimum", ", got shape ", x.shape());
  if (out.size() == 0) return;
  Tensor input = x.contiguous();
  ReduceArgs args{};
  for (int i = 0; i < x.rank(); ++i) {
    if (x.dim(i) == 1) continue;
    int last = args.shape.rank() - 1;
    if (last >= 0 && args.reduced[last] == reduced[i]) {
      args.shape[last] *= x.dim(i);
    } else {
      args.shape.push_back(x.dim(i));
      args.reduced[last + 1] = reduced[i];
    }
  }
  if (args.shape.rank() == 0) {
    args.shape.push_back(1);
    args.reduced[0] = true;
  }
  args.kind = kind;
  args.input = &input;
  args.output = &out;
  args.beta = beta;
  run_operation(kReduce, out, args);
}

Tensor arg_reduce(bool maximum, const Tensor& x, int axis) {
  constexpr std::string_view kArgName = "argmax";
  check_tensor(x, "x", kArgName);
  int along = x.shape().index(axis);
  Shape shape;
  ArgReduceArgs args{maximum, nullptr, 1, x.dim(along), 1, nullptr};
  for (int i = 0; i < x.rank(); ++i) {
    if (i != along) shape.push_back(x.dim(i));
    if (i < along) args.outer *= x.dim(i);
    if (i > along) args.inner *= x.dim(i);
  }
  Tensor out(shape, DType::i32, x.device());
  require(args.n > 0 || out.size() == 0, kArgName, "expected elements along axis ", along,
          ", got shape ", x.shape());
  if (out.size() == 0) return out;
  Tensor input = x.contiguous();
  args.input = &input;
  args.output = &out;
  run_operation(kArgReduce, out, args);
  return out;
}

}  // namespace

Tensor reduce(Reduction kind, const Tensor& x, const Axes& axes, bool keep_dims) {
  check_real(x, "x", kName);
  Flags reduced = reduced_axes(x.shape(), axes);
  Tensor out(result_shape(x.shape(), reduced, keep_dims), x.dtype(), x.device());
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

void reduce_into(Reduction kind, const Tensor& x, const Axes& axes, Tensor& out, float beta) {
  check_real(x, "x", kName);
  Flags reduced = reduced_axes(x.shape(), axes);
  check_operand(out, "the result", result_shape(x.shape(), reduced, false), x, kName, x.dtype());
  require(!overlap(x, out), kName, "the result overlaps x in memory; use separate tensors");
  run(kind, x, reduced, out, beta);
}

Tensor argmax(const Tensor& x, int axis) { return arg_reduce(true, x, axis); }
Tensor argmin(const Tensor& x, int axis) { return arg_reduce(false, x, axis); }

}  // namespace kaiseki
