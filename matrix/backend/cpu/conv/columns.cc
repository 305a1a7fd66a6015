// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/columns.h"

#include <algorithm>

#include "matrix/ceil_div.h"

namespace kaiseki::conv {
namespace {

/// Calls f(to, from, first, last) for each output row of each tap. `to` is the position in the
/// columns. `from` is the position in x of output column 0. Output columns first..last (exclusive)
/// read inside x. For rows outside x, first = last = 0.
template <typename F>
void each_row(const ConvProblem& p, int64_t channels, int64_t first_row, int64_t rows, F f) {
  const int64_t out_w = p.out_w(), step = p.stride[1];
  int64_t at = 0;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t r = 0; r < p.r; ++r)
      for (int64_t s = 0; s < p.s; ++s) {
        const int64_t left = s * p.dilation[1] - p.padding[1];
        const int64_t first = std::min(out_w, left >= 0 ? 0 : ceil_div(-left, step));
        const int64_t last =
            p.w > left ? std::clamp(ceil_div(p.w - left, step), first, out_w) : first;
        for (int64_t i = first_row; i < first_row + rows; ++i, at += out_w) {
          const int64_t y = i * p.stride[0] + r * p.dilation[0] - p.padding[0];
          const bool inside = y >= 0 && y < p.h;
          f(at, (c * p.h + y) * p.w + left, inside ? first : 0, inside ? last : 0);
        }
      }
}

}  // namespace

void write_columns(const ConvProblem& p, const float* x, int64_t channels, int64_t first_row,
                   int64_t rows, float* columns) {
  const int64_t out_w = p.out_w(), step = p.stride[1];
  each_row(p, channels, first_row, rows,
           [&](int64_t at, int64_t from, int64_t first, int64_t last) {
             float* to = columns + at;
             std::fill(to, to + first, 0.0f);
             if (step == 1 && first < last)
               std::copy(x + (from + first), x + (from + last), to + first);
             else
               for (int64_t j = first; j < last; ++j) to[j] = x[from + j * step];
             std::fill(to + last, to + out_w, 0.0f);
           });
}

void add_columns(const ConvProblem& p, const float* columns, int64_t channels, int64_t first_row,
                 int64_t rows, float* x) {
  const int64_t step = p.stride[1];
  each_row(p, channels, first_row, rows, [&](int64_t at, int64_t to, int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) x[to + j * step] += columns[at + j];
  });
}

}  // namespace kaiseki::conv
