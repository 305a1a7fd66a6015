// SPDX-License-Identifier: MIT
// Product: y = filter * gathered x, the form that forward and backward-data share.
#pragma once

#include "matrix/conv/gather.h"
#include "matrix/conv/pooled.h"
#include "matrix/conv/solver.h"

namespace kaiseki::conv {

struct Product {
  int64_t images, groups, m;  // m output channels a group
  const float* x;             // [images][groups * gather.channels][rows.in][columns.in]
  const float* filter;        // value (group, m, channel, tap) at the strides below
  int64_t filter_group, filter_m, filter_channel, filter_columns;
  float* y;  // [images][groups * m][plane_h][plane_w]
  int64_t plane_h, plane_w;
  const float* bias = nullptr;
  Activation activation = Activation::none;
  float slope = 0;
  const PoolTarget* pool = nullptr;  // instead of y; where the gather names all of it
};

int64_t packed_filter_floats(const Product& product, const Gather& gather);
/// Writes the elements of y that the gather's taps name. `packed_filter` is scratch.
void run_product(const Product& product, const Gather& gather, float* packed_filter);

}  // namespace kaiseki::conv
