// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/product.h"

#include <algorithm>

#include "matrix/backend/cpu/conv/packed_kernels.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki::conv {
namespace {

int64_t rows_of_block(const ConvProduct& p, const Gather& gather) {
  return multiply_block(p.m, gather.channels() * gather.taps());
}

/// Layout: [group][block of channels][block of m][depth][rows of a block].
void pack_filter(const ConvProduct& p, const Gather& gather, int64_t block, float* out) {
  const int64_t channels = gather.channels(), taps = gather.taps(),
                m_blocks = round_up(p.m, block) / block;
  const std::vector<int64_t> positions = gather.positions(p.filter_columns, p.filter_channel);
  parallel_for(p.groups * m_blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t g = task / m_blocks, m_block = task % m_blocks;
      const float* filter = p.filter + g * p.filter_group + m_block * block * p.filter_m;
      const int64_t rows = std::min(block, p.m - m_block * block);
      for (int64_t c = 0; c < channels; c += gather.block_channels()) {
        const int64_t depth = std::min(gather.block_channels(), channels - c) * taps;
        float* to = out + (g * channels + c) * taps * m_blocks * block + m_block * block * depth;
        for (int64_t k = 0; k < depth; ++k, to += block) {
          const float* from = filter + positions[c * taps + k];
          for (int64_t i = 0; i < rows; ++i) to[i] = from[i * p.filter_m];
          for (int64_t i = rows; i < block; ++i) to[i] = 0;
        }
      }
    }
  });
}

void scatter(const ConvProduct& p, const Taps& rows, const Taps& columns, int64_t first_row,
             int64_t count, const float* tile, float* plane) {
  for (int64_t m = 0; m < p.m; ++m, plane += p.plane_h * p.plane_w)
    for (int64_t i = 0; i < count; ++i, tile += columns.out) {
      float* to = plane + (rows.first + (first_row + i) * rows.step) * p.plane_w + columns.first;
      for (int64_t j = 0; j < columns.out; ++j) to[j * columns.step] = tile[j];
    }
}

}  // namespace

int64_t packed_filter_floats(const ConvProduct& p, const Gather& gather) {
  return p.groups * round_up(p.m, rows_of_block(p, gather)) * gather.channels() * gather.taps();
}

void run_product(const ConvProduct& p, const Gather& gather, float* packed_filter) {
  const Taps &rows = gather.rows(), &columns = gather.columns();
  const int64_t block = rows_of_block(p, gather);
  const int64_t channels = gather.channels(), taps = gather.taps();
  pack_filter(p, gather, block, packed_filter);
  const bool contiguous = rows.step == 1 && columns.step == 1;
  const int64_t in_plane = rows.in * columns.in, plane = p.plane_h * p.plane_w;
  const int64_t row_blocks = gather.row_blocks();
  /// Computes a block of rows of one image and group. Writes to c, or to y if rows or columns have
  /// steps.
  const auto compute = [&](int64_t image_group, int64_t row_block, float* c, int64_t ldc) {
    const int64_t first_row = row_block * gather.block_rows(), g = image_group % p.groups;
    const int64_t count = std::min(gather.block_rows(), rows.out - first_row);
    const int64_t pixels = count * columns.out;
    float* const tile = c ? c : thread_scratch(2, p.m * pixels);
    for (int64_t channel = 0; channel < channels; channel += gather.block_channels()) {
      const int64_t depth_channels = std::min(gather.block_channels(), channels - channel);
      const float* b = gather.pack(
          p.x + (image_group * channels + channel) * in_plane, depth_channels, first_row,
          thread_scratch(0, gather.packed_floats()), thread_scratch(1, gather.scratch_floats()));
      multiply({.a = packed_filter + (g * channels + channel) * taps * round_up(p.m, block),
                .m = p.m,
                .block = block,
                .depth = depth_channels * taps,
                .b = b,
                .offsets = gather.offsets().data(),
                .pixels = pixels,
                .c = tile,
                .ldc = c ? ldc : pixels,
                .rows = nullptr,
                .accumulate = channel > 0,
                .finish = channel + depth_channels == channels,
                .bias = p.bias ? p.bias + g * p.m : nullptr,
                .activation = p.activation,
                .slope = p.slope});
    }
    if (!c) scatter(p, rows, columns, first_row, count, tile, p.y + image_group * p.m * plane);
    return count;
  };
  if (p.pooling) {
    parallel_for(p.images * p.groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        PooledPlanes pooled(*p.pooling, i * p.m, p.m, gather.block_rows());
        for (int64_t row_block = 0; row_block < row_blocks; ++row_block)
          pooled.add(compute(i, row_block, pooled.next(), pooled.rows() * p.plane_w));
      }
    });
    return;
  }
  parallel_for(p.images * p.groups * row_blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t image_group = task / row_blocks, row_block = task % row_blocks;
      float* const c =
          p.y + image_group * p.m * plane + row_block * gather.block_rows() * p.plane_w;
      compute(image_group, row_block, contiguous ? c : nullptr, plane);
    }
  });
}

}  // namespace kaiseki::conv
