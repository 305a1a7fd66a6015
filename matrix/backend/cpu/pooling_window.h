// SPDX-License-Identifier: MIT
// The input elements that a pooling window covers.
#pragma once

#include <algorithm>

#include "matrix/backend/operations/pooling.h"

namespace kaiseki::cpu {

/// Window `i` along one axis: input elements begin..end, and the window's length with padding.
struct PoolingWindow {
  int64_t begin, end, padded;
};

inline PoolingWindow pooling_window(const PoolingArgs& p, int axis, int64_t i, int64_t in) {
  const int64_t first = i * p.stride[axis] - p.padding[axis];
  const int64_t last = std::min(first + p.window[axis], in + p.padding[axis]);
  return {std::max<int64_t>(first, 0), std::min(last, in), last - first};
}

/// The number of elements along one axis that an average divides by.
inline float pooling_divisor(const PoolingArgs& p, const PoolingWindow& w) {
  return static_cast<float>(p.count_padding ? w.padded : w.end - w.begin);
}

}  // namespace kaiseki::cpu
