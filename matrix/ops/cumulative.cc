// SPDX-License-Identifier: MIT
#include "matrix/ops/cumulative.h"

#include "matrix/axis_split.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/fold.h"
#include "matrix/ops/check.h"

namespace kaiseki {
namespace {

Tensor scan_along(Reduction kind, const Tensor& x, int axis, std::string_view name) {
  check_defined(x, "x", name);
  const AxisSplit split(x.shape(), x.shape().index(axis));
  const bool adds = kind == Reduction::sum || kind == Reduction::prod;
  Tensor out(x.shape(), adds && !is_floating(x.dtype()) ? DType::i32 : x.dtype(), x.device());
  if (out.size() == 0) return out;
  const Tensor input = x.contiguous();
  run_operation(kScan, out, {kind, split.outer, split.n, split.inner, &input, &out},
                is_small_task(out, {&input}, static_cast<double>(input.size())));
  return out;
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) { return scan_along(Reduction::sum, x, axis, "cumsum"); }
Tensor cumprod(const Tensor& x, int axis) {
  return scan_along(Reduction::prod, x, axis, "cumprod");
}
Tensor cummax(const Tensor& x, int axis) { return scan_along(Reduction::max, x, axis, "cummax"); }
Tensor cummin(const Tensor& x, int axis) { return scan_along(Reduction::min, x, axis, "cummin"); }

}  // namespace kaiseki
