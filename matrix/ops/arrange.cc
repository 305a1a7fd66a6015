// SPDX-License-Identifier: MIT
#include "matrix/ops/arrange.h"

#include <algorithm>
#include <limits>

#include "matrix/ops/check.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/index.h"

namespace kaiseki {
namespace {

/// Repeats along each axis, where x has an axis for each number.
Tensor tiled(const Tensor& x, const Shape& repeats) {
  Shape grid, spread, result;
  for (int i = 0; i < x.rank(); ++i) {
    if (repeats[i] != 1) {
      grid.push_back(1);
      spread.push_back(repeats[i]);
    }
    grid.push_back(x.dim(i));
    spread.push_back(x.dim(i));
    result.push_back(Shape{x.dim(i), repeats[i]}.elements());
  }
  return x.contiguous().reshape(grid).broadcast_to(spread).clone().reshape(result);
}

}  // namespace

Tensor squeeze(const Tensor& x, const Axes& axes) {
  check_defined(x, "x", "squeeze");
  std::vector<AxisIndex> indices(static_cast<size_t>(x.rank()), All);
  for (int axis = 0; axes.empty() && axis < x.rank(); ++axis)
    if (x.dim(axis) == 1) indices[static_cast<size_t>(axis)] = 0;
  for (int axis : axes) {
    const int i = x.shape().index(axis);
    require(x.dim(i) == 1, "squeeze", "expected length 1 of axis ", i, ", got shape ", x.shape());
    indices[static_cast<size_t>(i)] = 0;
  }
  return x.index(indices);
}

Tensor expand_dims(const Tensor& x, int axis) {
  check_defined(x, "x", "expand_dims");
  const int place = axis < 0 ? axis + x.rank() + 1 : axis;
  require(place >= 0 && place <= x.rank(), "expand_dims", "expected an axis from ", -x.rank() - 1,
          " to ", x.rank(), ", got ", axis);
  std::vector<AxisIndex> indices(static_cast<size_t>(place), All);
  indices.emplace_back(NewAxis);
  return x.index(indices);
}

Tensor flip(const Tensor& x, const Axes& axes) {
  check_defined(x, "x", "flip");
  const Slice reversed({}, {}, -1);
  std::vector<AxisIndex> indices(static_cast<size_t>(x.rank()), axes.empty() ? reversed : All);
  for (int axis : axes) indices[static_cast<size_t>(x.shape().index(axis))] = reversed;
  return x.index(indices);
}

Tensor moveaxis(const Tensor& x, int from, int to) {
  check_defined(x, "x", "moveaxis");
  const int source = x.shape().index(from), target = x.shape().index(to);
  std::vector<int> axes;
  for (int i = 0; i < x.rank(); ++i)
    if (i != source) axes.push_back(i);
  axes.insert(axes.begin() + target, source);
  return x.permute(axes);
}

std::vector<Tensor> split(const Tensor& x, int64_t parts, int axis) {
  check_defined(x, "x", "split");
  const int64_t n = x.dim(axis);
  require(parts > 0 && n % parts == 0, "split", "expected a number of equal parts of ", n, ", got ",
          parts);
  std::vector<Tensor> result;
  for (int64_t i = 0; i < parts; ++i) result.push_back(x.slice(axis, i * (n / parts), n / parts));
  return result;
}

std::vector<Tensor> split(const Tensor& x, std::span<const int64_t> positions, int axis) {
  check_defined(x, "x", "split");
  std::vector<Tensor> result;
  int64_t start = 0;
  auto cut = [&](int64_t end) {
    require(end >= start && end <= x.dim(axis), "split", "expected ascending positions from 0 to ",
            x.dim(axis), ", got ", end);
    result.push_back(x.slice(axis, start, end - start));
    start = end;
  };
  for (int64_t position : positions) cut(position);
  cut(x.dim(axis));
  return result;
}

Tensor roll(const Tensor& x, int64_t shift, int axis) {
  check_defined(x, "x", "roll");
  const int64_t n = x.dim(axis);
  if (n == 0) return x.clone();
  const int64_t last = (shift % n + n) % n;
  const Tensor parts[] = {x.slice(axis, n - last, last), x.slice(axis, 0, n - last)};
  return concatenate(parts, axis);
}

Tensor stack(std::span<const Tensor> parts, int axis) {
  require(!parts.empty(), "stack", "expected one tensor or more, got none");
  std::vector<Tensor> expanded;
  for (const Tensor& part : parts) {
    check_defined(part, "x", "stack");
    require(part.shape() == parts[0].shape(), "stack", "expected tensors of one shape, got ",
            parts[0].shape(), " and ", part.shape());
    expanded.push_back(expand_dims(part, axis));
  }
  return concatenate(expanded, axis);
}

Tensor tile(const Tensor& x, const Shape& repeats) {
  check_defined(x, "x", "tile");
  for (int64_t count : repeats)
    require(count >= 0, "tile", "expected repeats of 0 or more, got ", repeats);
  Shape shape, all;
  const int rank = std::max(x.rank(), repeats.rank());
  for (int i = 0; i < rank; ++i) {
    const int own = i - (rank - x.rank()), given = i - (rank - repeats.rank());
    shape.push_back(own < 0 ? 1 : x.dim(own));
    all.push_back(given < 0 ? 1 : repeats[given]);
  }
  // One axis after the other if the grid of all would have too many.
  const auto repeated = std::count_if(all.begin(), all.end(), [](int64_t n) { return n != 1; });
  Tensor result = x.contiguous().reshape(shape);
  if (rank + repeated <= Shape::kMaxRank) return tiled(result, all);
  for (int i = 0; i < rank; ++i) {
    const std::vector<Tensor> copies(static_cast<size_t>(all[i]), result);
    result = copies.empty() ? result.slice(i, 0, 0) : concatenate(copies, i);
  }
  return result;
}

Tensor repeat(const Tensor& x, int64_t repeats, int axis) {
  check_defined(x, "x", "repeat");
  require(repeats >= 0 && repeats <= std::numeric_limits<int32_t>::max(), "repeat",
          "expected repeats from 0 to 2^31 - 1, got ", repeats);
  const int along = x.shape().index(axis);
  const std::vector<int32_t> counts(static_cast<size_t>(x.dim(along)),
                                    static_cast<int32_t>(repeats));
  return repeat(x, Tensor::from(std::span<const int32_t>(counts), {x.dim(along)}, Device::cpu()),
                along);
}

Tensor repeat(const Tensor& x, const Tensor& repeats, int axis) {
  check_defined(x, "x", "repeat");
  check_tensor(repeats, "repeats", "repeat", DType::i32);
  require(repeats.shape() == Shape{x.dim(axis)}, "repeat", "expected repeats of shape ",
          Shape{x.dim(axis)}, ", got ", repeats.shape());
  std::vector<int32_t> indices;
  int32_t position = 0;
  for (int32_t count : repeats.to_vector<int32_t>()) {
    require(count >= 0, "repeat", "expected repeats of 0 or more, got ", count);
    indices.insert(indices.end(), static_cast<size_t>(count), position++);
  }
  return take(x,
              Tensor::from(std::span<const int32_t>(indices),
                           {static_cast<int64_t>(indices.size())}, x.device()),
              axis);
}

}  // namespace kaiseki
