// SPDX-License-Identifier: MIT
#include "matrix/shape.h"

#include <algorithm>

#include "base/error.h"

namespace kaiseki {

Shape::Shape(std::initializer_list<int64_t> dims)
    : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const int64_t> dims) {
  for (int64_t dim : dims) push_back(dim);
}

void Shape::push_back(int64_t dim) {
  require(rank_ < kMaxRank, "shape", "a shape has at most ", kMaxRank, " dimensions");
  dims_[rank_++] = dim;
}

int Shape::index(int axis) const {
  int i = axis < 0 ? axis + rank_ : axis;
  require(i >= 0 && i < rank_, "shape", "expected an axis from ", -rank_, " to ", rank_ - 1, " of ",
          *this, ", got ", axis);
  return i;
}

int64_t Shape::elements() const {
  constexpr int64_t kLimit = int64_t{1} << 62;
  int64_t product = 1;
  bool zero = false;
  for (int64_t dim : *this) {
    require(dim >= 0, "shape", "expected dimensions of 0 or more, got ", *this);
    if (dim == 0) {
      zero = true;
      continue;
    }
    require(product <= (kLimit - 1) / dim, "shape", "expected under 2^62 elements, got ", *this);
    product *= dim;
  }
  return zero ? 0 : product;
}

Shape Shape::contiguous_strides() const {
  Shape strides = *this;
  int64_t stride = 1;
  for (int i = rank_ - 1; i >= 0; --i) {
    strides.dims_[i] = stride;
    stride *= dims_[i];
  }
  return strides;
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::equal(begin(), end(), other.begin());
}

std::string Shape::str() const {
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) text += (i ? ", " : "") + std::to_string(dims_[i]);
  return text + "]";
}

Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view operation) {
  Shape result = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  int lead = result.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    int64_t& dim = result[lead + i];
    if (dim == 1) dim = shorter[i];
    require(shorter[i] == dim || shorter[i] == 1, operation,
            "expected shapes that broadcast together, got ", a, " and ", b);
  }
  return result;
}

}  // namespace kaiseki
