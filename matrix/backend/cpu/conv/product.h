// SPDX-License-Identifier: MIT
// ConvProduct: y = filter * gathered x. Forward and backward-data both have this form.
#pragma once

#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/pooled.h"
#include "matrix/conv/solver.h"

namespace kaiseki::conv {

struct ConvProduct {
  int64_t images, groups, m;  // m: output channels per group
  const float* x;             // [images][groups * gather.channels][rows.in][columns.in]
  const float* filter;        // value (group, m, channel, tap) has the strides below
  int64_t filter_group, filter_m, filter_channel, filter_columns;
  float* y;  // [images][groups * m][plane_h][plane_w]
  int64_t plane_h, plane_w;
  const float* bias = nullptr;
  Activation activation = Activation::none;
  float slope = 0;
  const PoolingTarget* pooling = nullptr;  // replaces y; the gather must name all elements of y
};

int64_t packed_filter_floats(const ConvProduct& product, const Gather& gather);
/// Writes the elements of y that the gather's taps name. `packed_filter` is scratch memory.
void run_product(const ConvProduct& product, const Gather& gather, float* packed_filter);

}  // namespace kaiseki::conv
