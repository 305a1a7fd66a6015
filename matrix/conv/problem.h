// SPDX-License-Identifier: MIT
// ConvProblem: the shapes and the direction of one convolution.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace kaiseki {

enum class ConvDirection : uint8_t { forward, backward_data, backward_filter };
/// "forward", "backward_data" or "backward_filter".
std::string_view direction_name(ConvDirection direction);

/// A two-dimensional convolution (cross-correlation): x [n, c, h, w], filter [k, c/groups, r, s],
/// y [n, k, out_h, out_w].
struct ConvProblem {
  ConvDirection direction = ConvDirection::forward;
  int64_t n = 0, c = 0, h = 0, w = 0, k = 0, r = 0, s = 0;
  std::array<int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  int64_t groups = 1;
  /// `padding` is before the first row and column. After the last row and column, the padding is
  /// `padding` plus this. The sum is 0 or more.
  std::array<int64_t, 2> extra_padding{0, 0};

  int64_t out_h() const { return out_side(0, h, r); }
  int64_t out_w() const { return out_side(1, w, s); }
  /// The number of multiplications and additions, including those on padding.
  double flops() const;
  /// The name of the case in tuning files and benchmarks, such as "n16c64h56w56k128r3s3p1".
  std::string str() const;
  /// The same without the minibatch, such as "c64h56w56k128r3s3p1".
  std::string str_per_image() const;
  auto operator<=>(const ConvProblem&) const = default;

 private:
  int64_t out_side(size_t axis, int64_t side, int64_t taps) const {
    const int64_t padded = side + 2 * padding[axis] + extra_padding[axis];
    return (padded - dilation[axis] * (taps - 1) - 1) / stride[axis] + 1;
  }
};

}  // namespace kaiseki
