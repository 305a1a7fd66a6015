// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/pointwise_columns.h"

#include <algorithm>
#include <array>

#include "matrix/ceil_div.h"

namespace kaiseki::conv {

bool is_pointwise(const ConvProblem& p) {
  constexpr std::array<int64_t, 2> kNone{0, 0};
  return p.r == 1 && p.s == 1 && p.padding == kNone && p.extra_padding == kNone;
}

std::vector<ColumnRun> column_runs(const ConvProblem& p, int64_t begin, int64_t end) {
  const int64_t width = p.out_w(), plane = p.out_h() * width;
  const bool dense = p.stride[0] == 1 && p.stride[1] == 1;
  const int64_t longest = dense ? plane : width;
  std::vector<ColumnRun> runs;
  for (int64_t at = begin; at < end;) {
    const int64_t image = at / plane, pixel = at % plane;
    const int64_t count = std::min(longest - pixel % longest, end - at);
    const int64_t x =
        dense ? pixel : pixel / width * p.stride[0] * p.w + pixel % width * p.stride[1];
    runs.push_back({at - begin, count, image * p.c * p.h * p.w + x, image * p.k * plane + pixel});
    at += count;
  }
  return runs;
}

int64_t balanced_piece(int64_t total, int64_t most) {
  const int64_t pieces = std::max<int64_t>(1, ceil_div(total, most));
  return std::max<int64_t>(1, ceil_div(total, pieces));
}

}  // namespace kaiseki::conv
