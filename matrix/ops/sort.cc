// SPDX-License-Identifier: MIT
// Sorts along the last axis: other axes are moved there first.
#include "matrix/ops/sort.h"

#include <limits>
#include <utility>
#include <vector>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/sort.h"
#include "matrix/ops/check.h"
#include "matrix/ops/index.h"
#include "matrix/with_type.h"

namespace kaiseki {
namespace {

/// A core places one element in the time of about this many simple operations.
constexpr double kSortCost = 20;

/// The view with two axes exchanged.
Tensor with_axes_swapped(const Tensor& x, int a, int b) {
  std::vector<int> axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i == a ? b : i == b ? a : i);
  return x.permute(axes);
}

/// The first `leading` indices of the order of each row, at least. x is contiguous and is sorted
/// along its last axis.
Tensor row_order(const Tensor& x, int64_t leading, bool descending, std::string_view name) {
  Tensor order(x.shape(), DType::i32, x.device());
  if (order.size() == 0) return order;
  const int64_t n = x.dim(-1);
  require(n <= std::numeric_limits<int32_t>::max(), name, "expected an axis under 2^31, got ", n);
  run_operation(kArgsort, order, {x.size() / n, n, leading, descending, &x, &order},
                is_small_task(order, {&x}, kSortCost * static_cast<double>(x.size())));
  return order;
}

/// x with the axis moved to the end, contiguous.
struct SortedAxis {
  SortedAxis(const Tensor& x, int axis, std::string_view name) {
    check_defined(x, "x", name);
    along = x.shape().index(axis);
    last = x.rank() - 1;
    rows = with_axes_swapped(x, along, last).contiguous();
  }
  Tensor restored(const Tensor& result) const {
    return with_axes_swapped(result, along, last).contiguous();
  }
  int along = 0, last = 0;
  Tensor rows;
};

template <typename T>
bool differ(T a, T b) {
  return a != b && !(a != a && b != b);  // two NaNs are one value
}

/// The positions in the sorted x where a new value begins.
template <typename T>
std::vector<int32_t> group_starts(const Tensor& sorted) {
  const T* value = sorted.data<T>();
  std::vector<int32_t> starts;
  for (int64_t i = 0; i < sorted.size(); ++i)
    if (i == 0 || differ(value[i - 1], value[i])) starts.push_back(static_cast<int32_t>(i));
  return starts;
}

std::vector<int32_t> group_starts_of_type(const Tensor& sorted) {
  return with_type(sorted.dtype(), [&](auto zero) { return group_starts<decltype(zero)>(sorted); });
}

}  // namespace

Tensor argsort(const Tensor& x, int axis, bool descending) {
  const SortedAxis sorted(x, axis, "argsort");
  return sorted.restored(row_order(sorted.rows, sorted.rows.dim(-1), descending, "argsort"));
}

Tensor sort(const Tensor& x, int axis, bool descending) {
  const SortedAxis sorted(x, axis, "sort");
  const Tensor order = row_order(sorted.rows, sorted.rows.dim(-1), descending, "sort");
  return sorted.restored(gather(sorted.rows, order, -1));
}

TopK topk(const Tensor& x, int64_t k, int axis, bool largest) {
  const SortedAxis sorted(x, axis, "topk");
  require(k >= 0 && k <= sorted.rows.dim(-1), "topk", "expected k from 0 to ", sorted.rows.dim(-1),
          ", got ", k);
  const Tensor order = row_order(sorted.rows, k, largest, "topk").slice(-1, 0, k).contiguous();
  return {sorted.restored(gather(sorted.rows, order, -1)), sorted.restored(order)};
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right) {
  constexpr std::string_view kName = "searchsorted";
  require(sorted.defined() && values.defined(), kName, "expected tensors, got an empty one");
  require(sorted.rank() == 1, kName, "expected sorted elements of rank 1, got ", sorted.shape());
  require(sorted.dim(0) <= std::numeric_limits<int32_t>::max(), kName,
          "expected under 2^31 sorted elements, got ", sorted.dim(0));
  check_tensor(values, "values", kName, sorted.device(), sorted.dtype());
  Tensor result(values.shape(), DType::i32, values.device());
  if (result.size() == 0) return result;
  const Tensor elements = sorted.contiguous(), wanted = values.contiguous();
  run_operation(
      kSearchSorted, result, {elements.dim(0), right, &elements, &wanted, &result},
      is_small_task(result, {&elements, &wanted}, kSortCost * static_cast<double>(wanted.size())));
  return result;
}

Unique unique(const Tensor& x) {
  check_defined(x, "x", "unique");
  const Tensor flat = x.contiguous().reshape({x.size()});
  const Tensor order = row_order(flat, flat.size(), false, "unique");
  const Tensor sorted = take(flat, order, 0);
  const std::vector<int32_t> starts = group_starts_of_type(sorted);
  const int32_t* position = order.data<int32_t>();
  std::vector<int32_t> first, counts, inverse(static_cast<size_t>(x.size()));
  for (size_t group = 0; group < starts.size(); ++group) {
    const int32_t begin = starts[group];
    const int32_t end =
        group + 1 < starts.size() ? starts[group + 1] : static_cast<int32_t>(x.size());
    first.push_back(position[begin]);
    counts.push_back(end - begin);
    for (int32_t i = begin; i < end; ++i)
      inverse[static_cast<size_t>(position[i])] = static_cast<int32_t>(group);
  }
  auto indices = [&](const std::vector<int32_t>& values, const Shape& shape) {
    return Tensor::from(std::span<const int32_t>(values), shape, x.device());
  };
  const Shape count{static_cast<int64_t>(starts.size())};
  const Tensor first_positions = indices(first, count);
  return {take(flat, first_positions, 0), first_positions, indices(inverse, x.shape()),
          indices(counts, count)};
}

}  // namespace kaiseki
