// SPDX-License-Identifier: MIT
// Gather splits the input of one group for implicit GEMM: into blocks of channels and output rows.
// The packed form of a block stays in the cache. The blocks depend on the problem alone.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/backend/cpu/conv/taps.h"
#include "matrix/ceil_div.h"

namespace kaiseki::conv {

class Gather {
 public:
  /// `max_depth`: about the maximum number of products that one block of channels sums.
  Gather(int64_t channels, Taps rows, Taps columns, int64_t max_depth);

  const Taps& rows() const { return rows_; }
  const Taps& columns() const { return columns_; }
  int64_t channels() const { return channels_; }
  int64_t taps() const { return taps_; }
  int64_t block_channels() const { return block_channels_; }
  int64_t block_rows() const { return block_rows_; }
  int64_t row_blocks() const { return ceil_div(rows_.out, block_rows_); }
  /// The start positions of the products (channel, column tap, row tap) of a block. They are
  /// relative to the result of pack().
  const std::vector<int64_t>& offsets() const { return offsets_; }
  /// The positions of the products in the filter of `channels` channels with r*s values each.
  std::vector<int64_t> positions(int64_t filter_columns, int64_t filter_size) const;

  /// Whether the kernels can read the input in place, without packing.
  bool in_place() const { return in_place_; }
  int64_t packed_floats() const;
  int64_t scratch_floats() const;
  /// Packs `count` channels of x [count][in rows][in columns] for the output rows from `first_row`.
  /// Returns `packed`, or a pointer into x if the input can be read in place.
  const float* pack(const float* x, int64_t count, int64_t first_row, float* packed,
                    float* scratch) const;
  /// The transpose of pack(): adds `packed` to x, which is 0 at first. Takes one block of rows
  /// after the other.
  void unpack(const float* packed, int64_t count, int64_t first_row, float* x) const;
  /// Makes pack() copy even if the input could be read in place.
  void always_copy();

 private:
  void set_offsets();
  /// The last input row that the block of output rows from `first_row` reads.
  int64_t last_row(int64_t first_row) const;
  bool can_read_in_place() const;

  int64_t channels_, taps_, block_channels_ = 1, block_rows_ = 1;
  Taps rows_, columns_;
  PackedRows packed_;
  std::vector<int64_t> offsets_;
  bool in_place_ = false;
};

/// This thread's scratch memory number `slot`, aligned to 64 bytes. The contents are lost between
/// calls.
float* thread_scratch(int slot, int64_t floats);

}  // namespace kaiseki::conv
