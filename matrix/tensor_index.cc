// SPDX-License-Identifier: MIT
// Views by slices and positions: Tensor::index().
#include <algorithm>

#include "base/error.h"
#include "matrix/slice.h"
#include "matrix/tensor.h"

namespace kaiseki {
namespace {

constexpr std::string_view kName = "slice";

struct AxisRange {
  int64_t first, length;
};

AxisRange resolve(const Slice& slice, int64_t n) {
  require(slice.step != 0, kName, "expected a step other than 0");
  const bool back = slice.step < 0;
  const int64_t lowest = back ? -1 : 0, highest = back ? n - 1 : n;
  auto position = [&](const std::optional<int64_t>& given, int64_t missing) {
    if (!given) return missing;
    return std::clamp(*given < 0 ? *given + n : *given, lowest, highest);
  };
  const int64_t first = position(slice.start, back ? highest : lowest);
  const int64_t stop = position(slice.stop, back ? lowest : highest);
  const int64_t distance = back ? first - stop : stop - first;
  if (distance <= 0) return {0, 0};
  // The step may be the smallest integer, which has no absolute value.
  const uint64_t step =
      back ? uint64_t{0} - static_cast<uint64_t>(slice.step) : static_cast<uint64_t>(slice.step);
  return {first, static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / step) + 1};
}

}  // namespace

Tensor Tensor::index(std::span<const AxisIndex> indices) const {
  require(defined(), kName, "expected a tensor, got an empty one");
  Shape shape, strides;
  int64_t offset = offset_;
  int axis = 0;
  auto keep = [&](int64_t length, int64_t stride) {
    shape.push_back(length);
    strides.push_back(stride);
  };
  for (const AxisIndex& index : indices) {
    if (index.kind == AxisIndex::Kind::new_axis) {
      keep(1, 0);
      continue;
    }
    require(axis < rank(), kName, "expected at most ", rank(), " indices for shape ", shape_);
    const int64_t n = shape_[axis], stride = strides_[axis];
    if (index.kind == AxisIndex::Kind::position) {
      const int64_t position = index.position < 0 ? index.position + n : index.position;
      require(position >= 0 && position < n, kName, "expected an index from ", -n, " to ", n - 1,
              " along axis ", axis, ", got ", index.position);
      offset += position * stride;
    } else {
      const AxisRange range = resolve(index.slice, n);
      offset += range.first * stride;
      // With one element or none, the step is irrelevant and its product may overflow.
      keep(range.length, range.length > 1 ? index.slice.step * stride : stride);
    }
    ++axis;
  }
  for (; axis < rank(); ++axis) keep(shape_[axis], strides_[axis]);
  return view(shape, strides, offset);
}

}  // namespace kaiseki
