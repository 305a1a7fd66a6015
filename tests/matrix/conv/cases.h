// SPDX-License-Identifier: MIT
// Convolutions for tests: shapes of common layers, and unusual ones.
#pragma once

#include <algorithm>
#include <vector>

#include "matrix/conv/solver.h"
#include "matrix/device.h"
#include "matrix/ops/conv.h"

namespace kaiseki::test {

inline std::vector<ConvProblem> conv_cases() {
  const auto make = [](int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, int64_t r, int64_t s,
                       std::array<int64_t, 2> stride = {1, 1},
                       std::array<int64_t, 2> padding = {0, 0},
                       std::array<int64_t, 2> dilation = {1, 1}, int64_t groups = 1,
                       std::array<int64_t, 2> extra_padding = {0, 0}) {
    return ConvProblem{
        ConvDirection::forward, n, c, h, w, k, r, s, stride, padding, dilation, groups,
        extra_padding};
  };
  return {
      make(3, 1, 28, 28, 20, 5, 5),
      make(2, 20, 12, 12, 50, 5, 5),
      make(2, 3, 32, 32, 16, 5, 5, {1, 1}, {2, 2}),
      make(9, 20, 8, 8, 20, 5, 5, {1, 1}, {2, 2}),
      make(1, 1, 1, 1, 1, 1, 1),
      make(1, 3, 7, 11, 5, 1, 1),
      make(2, 64, 4, 4, 13, 1, 1),
      make(2, 5, 16, 16, 6, 1, 1, {2, 2}),
      make(3, 7, 13, 17, 11, 3, 3, {1, 1}, {1, 1}),
      make(2, 4, 7, 7, 29, 3, 3, {2, 2}, {1, 1}),
      make(1, 2, 23, 19, 3, 7, 5, {3, 2}, {3, 1}),
      make(1, 3, 9, 31, 2, 1, 7, {1, 2}, {0, 3}),
      make(1, 3, 31, 9, 2, 7, 1, {2, 1}, {3, 0}),
      make(2, 3, 3, 3, 4, 5, 5, {1, 1}, {1, 1}),
      make(1, 1, 2, 2, 1, 6, 6, {1, 1}, {2, 2}),
      make(1, 2, 5, 5, 3, 3, 3, {1, 1}, {4, 4}),
      make(2, 3, 17, 15, 4, 3, 3, {1, 1}, {2, 2}, {2, 2}),
      make(1, 2, 19, 23, 3, 3, 2, {2, 3}, {3, 4}, {3, 2}),
      make(1, 2, 11, 11, 2, 2, 2, {5, 4}),
      make(2, 6, 10, 9, 8, 3, 3, {1, 1}, {1, 1}, {1, 1}, 2),
      make(2, 7, 9, 9, 7, 3, 3, {1, 1}, {1, 1}, {1, 1}, 7),
      make(1, 5, 9, 8, 15, 3, 3, {2, 2}, {1, 1}, {1, 1}, 5),
      make(1, 1, 1, 56, 2, 1, 1, {1, 1}, {0, 20}),
      make(1, 2, 1, 1, 3, 1, 1, {100, 100}, {5, 5}),
      make(1, 3, 2, 3, 4, 3, 3, {1, 1}, {40, 40}, {40, 40}),
      make(1, 40, 3, 2, 4, 3, 3, {2, 1}, {9, 30}, {9, 30}),
      make(1, 600, 5, 5, 3, 1, 1),
      make(1, 130, 6, 6, 14, 3, 3, {1, 1}, {1, 1}),
      make(1, 3, 67, 131, 5, 3, 3, {1, 1}, {1, 1}),
      make(1, 40, 61, 67, 2, 3, 3, {1, 1}, {1, 1}),
      make(5, 17, 13, 11, 19, 3, 3, {1, 1}, {1, 1}),
      make(2, 16, 30, 70, 16, 3, 3, {1, 1}, {0, 2}),
      make(90, 16, 3, 4, 16, 3, 3, {1, 1}, {1, 1}),
      make(6, 130, 9, 10, 40, 3, 3, {1, 1}, {1, 1}),
      make(1, 60, 4, 1100, 56, 3, 3, {1, 1}, {1, 1}),
      make(1, 4, 5, 4, 4, 3, 3, {1, 1 << 20}, {1, 1}, {1, 1}, 4),
      make(6, 18, 7, 7, 33, 1, 1, {1, 1}, {0, 0}, {1, 1}, 3),
      make(3, 525, 7, 9, 15, 1, 1, {2, 3}),
      make(2, 15, 9, 7, 525, 1, 1, {3, 2}),
      make(40, 37, 7, 7, 70, 1, 1),
      make(5, 35, 13, 12, 30, 1, 1),
      make(3, 5, 14, 14, 5, 3, 3, {1, 1}, {1, 1}, {1, 1}, 5),
      make(2, 4, 33, 35, 4, 3, 3, {2, 2}, {1, 1}, {1, 1}, 4),
      make(2, 3, 20, 37, 12, 5, 4, {2, 3}, {2, 1}, {2, 1}, 3),
      make(1, 3, 1, 33, 6, 1, 5, {2, 2}, {0, 3}, {1, 1}, 3),
      make(2, 2, 18, 12, 2, 7, 7, {1, 1}, {6, 6}, {1, 1}, 2),
      make(1, 2, 61, 40, 2, 3, 3, {1, 1}, {1, 1}, {1, 1}, 2),
      make(1, 2, 60, 74, 4, 3, 3, {2, 2}, {1, 1}, {1, 1}, 2),
      make(3, 3, 67, 63, 40, 11, 11, {4, 4}, {2, 0}),
      make(2, 8, 44, 61, 34, 6, 9, {2, 3}, {1, 2}, {1, 1}, 2),
      make(2, 70, 9, 7, 66, 3, 3, {1, 1}, {1, 1}),
      make(2, 66, 8, 12, 70, 5, 5, {1, 1}, {2, 2}),
      make(2, 3, 19, 21, 31, 3, 3, {1, 1}, {1, 1}),
      make(2, 20, 12, 13, 24, 3, 3, {1, 1}, {0, 1}, {1, 1}, 1, {2, -1}),
      make(2, 5, 14, 16, 9, 3, 3, {2, 2}, {0, 0}, {1, 1}, 1, {1, 1}),
      make(2, 9, 7, 6, 20, 1, 1, {1, 1}, {0, 0}, {1, 1}, 1, {0, 3}),
      make(3, 6, 15, 14, 6, 5, 5, {1, 1}, {2, 1}, {1, 1}, 6, {-2, 4}),
      make(1, 4, 17, 19, 6, 7, 7, {1, 1}, {3, 2}, {1, 1}, 2, {-1, 1}),
      make(2, 70, 9, 7, 66, 3, 3, {1, 1}, {1, 1}, {1, 1}, 1, {-1, 2}),
      make(2, 3, 20, 18, 8, 4, 4, {3, 2}, {1, 0}, {2, 1}, 1, {2, 3}),
  };
}

/// The arguments of conv2d_into() for a problem.
inline Conv2d conv2d_of(const ConvProblem& p) {
  const std::array<int64_t, 2> end = {p.padding[0] + p.extra_padding[0],
                                      p.padding[1] + p.extra_padding[1]};
  return {p.stride, p.padding, p.dilation, p.groups, end};
}

/// Few problems for tests that take long: plain, with padding, with strides, with groups,
/// depthwise.
inline std::vector<ConvProblem> common_conv_cases() {
  constexpr auto kForward = ConvDirection::forward;
  return {{kForward, 2, 20, 12, 12, 50, 5, 5},
          {kForward, 3, 7, 13, 17, 11, 3, 3, {1, 1}, {1, 1}},
          {kForward, 1, 2, 23, 19, 3, 7, 5, {3, 2}, {3, 1}},
          {kForward, 2, 6, 10, 9, 8, 3, 3, {1, 1}, {1, 1}, {1, 1}, 2},
          {kForward, 2, 7, 9, 9, 7, 3, 3, {1, 1}, {1, 1}, {1, 1}, 7}};
}

/// On the CPU the longest stride takes most of the time, so the tests that run it often shorten it.
inline std::vector<ConvProblem> conv_cases_to_repeat(Device device) {
  std::vector<ConvProblem> cases = conv_cases();
  if (device.is_cpu())
    for (ConvProblem& p : cases) p.stride[1] = std::min<int64_t>(p.stride[1], 1024);
  return cases;
}

}  // namespace kaiseki::test
