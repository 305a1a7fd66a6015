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

  int64_t out_h() const { return (h + 2 * padding[0] - dilation[0] * (r - 1) - 1) / stride[0] + 1; }
  int64_t out_w() const { return (w + 2 * padding[1] - dilation[1] * (s - 1) - 1) / stride[1] + 1; }
  /// The number of multiplications and additions, including those on padding.
  double flops() const;
  /// The name of the case in tuning files and benchmarks, such as "n16c64h56w56k128r3s3p1".
  std::string str() const;
  /// The same without the minibatch, such as "c64h56w56k128r3s3p1".
  std::string str_per_image() const;
  auto operator<=>(const ConvProblem&) const = default;
};

}  // namespace kaiseki
