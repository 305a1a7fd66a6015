// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/taps.h"

#include <algorithm>
#include <limits>

#include "matrix/ceil_div.h"

namespace kaiseki::conv {
namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// Drops a tap that reads only padding. It adds nothing, and its offset may be far outside the
/// input.
void add_tap(Taps& taps, int64_t offset, int64_t index) {
  if (offset >= taps.in || offset + (taps.out - 1) * taps.stride < 0) return;
  taps.offsets.push_back(offset);
  taps.index.push_back(index);
}

}  // namespace

Taps forward_taps(int64_t in, int64_t out, int64_t filter, int64_t stride, int64_t padding,
                  int64_t dilation) {
  Taps taps{in, out, stride, 0, 1, {}, {}};
  for (int64_t r = 0; r < filter; ++r) add_tap(taps, r * dilation - padding, r);
  return taps;
}

bool has_padding_only_taps(const ConvProblem& p) {
  const auto used = [&](int axis, int64_t in, int64_t out, int64_t filter) {
    return static_cast<int64_t>(
        forward_taps(in, out, filter, p.stride[axis], p.padding[axis], p.dilation[axis])
            .index.size());
  };
  return used(0, p.h, p.out_h(), p.r) < p.r || used(1, p.w, p.out_w(), p.s) < p.s;
}

std::vector<Taps> backward_taps(int64_t in, int64_t out, int64_t filter, int64_t stride,
                                int64_t padding, int64_t dilation) {
  std::vector<Taps> all;
  for (int64_t first = 0; first < std::min(stride, in); ++first) {
    Taps taps{out, ceil_div(in - first, stride), 1, first, stride, {}, {}};
    for (int64_t r = 0; r < filter; ++r) {
      const int64_t position = first + padding - r * dilation;
      if (position % stride == 0) add_tap(taps, position / stride, r);
    }
    all.push_back(std::move(taps));
  }
  return all;
}

PackedRows packed_rows(const Taps& taps, int64_t count) {
  PackedRows packed;
  packed.start.resize(taps.offsets.size());
  for (int64_t phase = 0; phase < taps.stride; ++phase) {
    int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
    for (int64_t offset : taps.offsets) {
      const int64_t quotient = floor_div(offset, taps.stride);
      if (offset - quotient * taps.stride != phase) continue;
      low = std::min(low, quotient);
      high = std::max(high, quotient);
    }
    if (low > high) continue;
    const int64_t base = static_cast<int64_t>(packed.rows.size());
    for (int64_t j = low; j < high + count; ++j) packed.rows.push_back(j * taps.stride + phase);
    for (size_t t = 0; t < taps.offsets.size(); ++t) {
      const int64_t quotient = floor_div(taps.offsets[t], taps.stride);
      if (taps.offsets[t] - quotient * taps.stride == phase)
        packed.start[t] = base + quotient - low;
    }
  }
  return packed;
}

}  // namespace kaiseki::conv
