// SPDX-License-Identifier: MIT
#include "matrix/ops/create.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/triangle.h"
#include "matrix/ops/check.h"
#include "matrix/ops/copy.h"

namespace kaiseki {
namespace {

constexpr int64_t kMostValues = int64_t{1} << 40;

/// [count] of value(i), written on the host.
template <typename T, class Value>
Tensor sequence(int64_t count, Device device, const Value& value) {
  Tensor result({count}, DTypeOf<T>::value, device);
  T* out = result.overwrite<T>();
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(value(i));
  return result;
}

Tensor filled_like(const Tensor& x, double value, std::string_view name) {
  check_defined(x, "x", name);
  Tensor result(x.shape(), x.dtype(), x.device());
  fill(result, value);
  return result;
}

/// A view of one diagonal of a contiguous matrix.
Tensor diagonal_view(const Tensor& matrix, int64_t diagonal) {
  const int64_t rows = matrix.dim(0), columns = matrix.dim(1);
  const int64_t length =
      std::min(rows + std::min<int64_t>(diagonal, 0), columns - std::max<int64_t>(diagonal, 0));
  const Tensor flat = matrix.reshape({matrix.size()});
  if (length <= 0) return flat.slice(0, 0, 0);
  const int64_t start = diagonal >= 0 ? diagonal : -diagonal * columns;
  return flat(Slice(start, start + (length - 1) * (columns + 1) + 1, columns + 1));
}

void check_diagonal(int64_t diagonal, std::string_view name) {
  require(diagonal > -kMostValues && diagonal < kMostValues, name,
          "expected a diagonal under 2^40, got ", diagonal);
}

Tensor triangle(const Tensor& x, int64_t diagonal, bool upper, std::string_view name) {
  require(x.defined() && x.rank() >= 2, name, "expected a matrix or a batch of matrices as x");
  // Farther diagonals have the same effect, but a device may not have room for their number.
  diagonal = std::clamp(diagonal, -x.dim(-2), x.dim(-1));
  Tensor result(x.shape(), x.dtype(), x.device());
  if (result.size() == 0) return result;
  const Tensor input = x.contiguous();
  run_operation(kTriangle, result, {x.dim(-2), x.dim(-1), diagonal, upper, &input, &result},
                is_small_task(result, {&input}, static_cast<double>(input.size())));
  return result;
}

}  // namespace

Tensor ones(const Shape& shape, DType dtype, Device device) {
  Tensor result(shape, dtype, device);
  fill(result, 1);
  return result;
}

Tensor zeros_like(const Tensor& x) { return filled_like(x, 0, "zeros_like"); }
Tensor ones_like(const Tensor& x) { return filled_like(x, 1, "ones_like"); }
Tensor full_like(const Tensor& x, double value) { return filled_like(x, value, "full_like"); }

Tensor arange(double start, double stop, double step, DType dtype, Device device) {
  constexpr std::string_view kName = "arange";
  require(step != 0 && std::isfinite(start) && std::isfinite(step), kName,
          "expected a finite start and a finite step other than 0, got ", start, " and ", step);
  const double exact = std::ceil((stop - start) / step);
  require(exact < static_cast<double>(kMostValues), kName, "expected under 2^40 values, got start ",
          start, ", stop ", stop, " and step ", step);
  const auto count = static_cast<int64_t>(std::max(exact, 0.0));
  auto value = [&](int64_t i) { return start + static_cast<double>(i) * step; };
  const double low = count ? std::min(start, value(count - 1)) : 0;
  const double high = count ? std::max(start, value(count - 1)) : 0;
  auto check_range = [&](double least, double most) {
    require(low >= least && high <= most, kName, "expected values of type ", dtype_name(dtype),
            ", got ", low, " to ", high);
  };
  switch (dtype) {
    case DType::f32:
      return sequence<float>(count, device, value);
    case DType::i32:
      check_range(-0x1p31, 0x1p31 - 1);
      return sequence<int32_t>(count, device, value);
    case DType::u8:
      check_range(0, 255);
      return sequence<uint8_t>(count, device, value);
    case DType::f64:
      return sequence<double>(count, device, value);
    case DType::boolean:
      break;
  }
  throw ShapeError(
      message(kName, "expected the type f32, f64, i32 or u8, got ", dtype_name(dtype)));
}

Tensor arange(double stop, DType dtype, Device device) { return arange(0, stop, 1, dtype, device); }

Tensor linspace(double start, double stop, int64_t count, bool endpoint, Device device) {
  require(count >= 0, "linspace", "expected 0 values or more, got ", count);
  const int64_t steps = endpoint ? count - 1 : count;
  const double step = steps > 0 ? (stop - start) / static_cast<double>(steps) : 0;
  return sequence<float>(count, device, [&](int64_t i) {
    return endpoint && i == steps && i > 0 ? stop : start + static_cast<double>(i) * step;
  });
}

Tensor eye(int64_t rows, int64_t columns, int64_t diagonal, DType dtype, Device device) {
  check_diagonal(diagonal, "eye");
  Tensor result = Tensor::zeros({rows, columns}, dtype, device);
  Tensor view = diagonal_view(result, diagonal);
  copy_into(view, ones(view.shape(), dtype, device));
  return result;
}

Tensor eye(int64_t n, DType dtype, Device device) { return eye(n, n, 0, dtype, device); }

Tensor diag(const Tensor& x, int64_t diagonal) {
  require(x.defined() && (x.rank() == 1 || x.rank() == 2), "diag",
          "expected a vector or a matrix as x");
  check_diagonal(diagonal, "diag");
  if (x.rank() == 2) return diagonal_view(x.contiguous(), diagonal).clone();
  const int64_t n = x.dim(0) + std::abs(diagonal);
  Tensor result = Tensor::zeros({n, n}, x.dtype(), x.device());
  Tensor view = diagonal_view(result, diagonal);
  copy_into(view, x);
  return result;
}

Tensor tri(int64_t rows, int64_t columns, int64_t diagonal, Device device) {
  return tril(ones({rows, columns}, DType::f32, device), diagonal);
}
Tensor triu(const Tensor& x, int64_t diagonal) { return triangle(x, diagonal, true, "triu"); }
Tensor tril(const Tensor& x, int64_t diagonal) { return triangle(x, diagonal, false, "tril"); }

std::vector<Tensor> meshgrid(std::span<const Tensor> axes, GridOrder order) {
  const int rank = static_cast<int>(axes.size());
  auto place = [&](int i) { return order == GridOrder::xy && rank > 1 && i < 2 ? 1 - i : i; };
  Shape grid;
  for (int i = 0; i < rank; ++i) {
    const Tensor& axis = axes[static_cast<size_t>(place(i))];
    require(axis.defined() && axis.rank() == 1, "meshgrid", "expected axes of rank 1");
    grid.push_back(axis.dim(0));
  }
  std::vector<Tensor> result;
  for (int i = 0; i < rank; ++i) {
    std::vector<AxisIndex> indices(static_cast<size_t>(rank), NewAxis);
    indices[static_cast<size_t>(place(i))] = All;
    result.push_back(axes[static_cast<size_t>(i)].index(indices).broadcast_to(grid));
  }
  return result;
}

}  // namespace kaiseki
