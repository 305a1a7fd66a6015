// SPDX-License-Identifier: MIT
// Forward and backward-data of a convolution with stride 1 and dilation 1, as one correlation.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

struct Correlation {
  bool turned;              // the filter is reversed and its two channel dimensions are swapped
  int64_t inputs, outputs;  // channels per group
  int64_t h, w, out_h, out_w;
  int64_t top, left;  // rows and columns of zeros before the input

  explicit Correlation(const ConvProblem& p)
      : turned(p.direction == ConvDirection::backward_data),
        inputs((turned ? p.k : p.c) / p.groups),
        outputs((turned ? p.c : p.k) / p.groups),
        h(turned ? p.out_h() : p.h),
        w(turned ? p.out_w() : p.w),
        out_h(turned ? p.h : p.out_h()),
        out_w(turned ? p.w : p.out_w()),
        top(turned ? p.r - 1 - p.padding[0] : p.padding[0]),
        left(turned ? p.s - 1 - p.padding[1] : p.padding[1]) {}
};

}  // namespace kaiseki::conv
