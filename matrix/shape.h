// SPDX-License-Identifier: MIT
// Shape: the lengths of up to eight dimensions, row-major. Also used for strides, in elements.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace kaiseki {

class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  /// Negative indices count from the end. Throws ShapeError if i is out of range.
  int64_t operator[](int i) const { return dims_[index(i)]; }
  int64_t& operator[](int i) { return dims_[index(i)]; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  void push_back(int64_t dim);

  /// The product of the dimensions; 1 for rank 0. Throws ShapeError if a dimension is negative, or
  /// if the product of the nonzero dimensions is 2^62 or more.
  int64_t elements() const;
  /// Strides of a contiguous tensor of this shape, in elements.
  Shape contiguous_strides() const;
  /// Converts `axis`, which may be negative, to 0..rank-1. Throws ShapeError.
  int index(int axis) const;

  bool operator==(const Shape& other) const;
  /// "[2, 3, 4]"
  std::string str() const;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

/// NumPy's broadcasting of two shapes. Throws ShapeError with the operation's name.
Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view operation);

}  // namespace kaiseki
