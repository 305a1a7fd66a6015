// SPDX-License-Identifier: MIT
// Gather: how implicit GEMM walks the input of one group of channels: in blocks of channels and of
// output rows whose packed form stays in the cache. The blocks depend on the problem alone.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/conv/taps.h"

namespace kaiseki::conv {

class Gather {
 public:
  /// `max_depth`: about how many products one block of channels may sum.
  Gather(int64_t channels, Taps rows, Taps columns, int64_t max_depth);

  const Taps& rows() const { return rows_; }
  const Taps& columns() const { return columns_; }
  int64_t channels() const { return channels_; }
  int64_t taps() const { return taps_; }
  int64_t block_channels() const { return block_channels_; }
  int64_t block_rows() const { return block_rows_; }
  int64_t row_blocks() const { return (rows_.out + block_rows_ - 1) / block_rows_; }
  /// Where product (channel, column tap, row tap) of a block begins, from the pointer pack()
  /// returns.
  const std::vector<int64_t>& offsets() const { return offsets_; }
  /// Position of the products within the filter of `channels` channels, r*s values each.
  std::vector<int64_t> positions(int64_t filter_columns, int64_t filter_size) const;

  /// Whether the input is as good as packed.
  bool in_place() const { return in_place_; }
  int64_t packed_floats() const;
  int64_t scratch_floats() const;
  /// Packs `count` channels of x [count][in rows][in columns] for the output rows from `first_row`;
  /// returns `packed`, or where x itself serves.
  const float* pack(const float* x, int64_t count, int64_t first_row, float* packed,
                    float* scratch) const;
  /// The transpose of pack(): adds to x, at first zeros, what is in `packed`, for one block of rows
  /// after the other.
  void unpack(const float* packed, int64_t count, int64_t first_row, float* x) const;
  /// Packs even where the input would serve in place.
  void never_in_place();

 private:
  void set_offsets();
  /// The last input row that the block of output rows from `first_row` reads.
  int64_t last_row(int64_t first_row) const;
  bool serves_in_place() const;

  int64_t channels_, taps_, block_channels_ = 1, block_rows_ = 1;
  Taps rows_, columns_;
  PackedRows packed_;
  std::vector<int64_t> offsets_;
  bool in_place_ = false;
};

/// This thread's scratch memory number `slot`, aligned to 64 bytes; contents are lost between
/// calls.
float* thread_scratch(int slot, int64_t floats);

}  // namespace kaiseki::conv
