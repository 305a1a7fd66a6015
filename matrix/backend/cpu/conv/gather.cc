// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/gather.h"

#include <algorithm>
#include <cstdlib>

#include "matrix/backend/cpu/conv/packed_kernels.h"
#include "matrix/ceil_div.h"
#include "matrix/memory/host.h"

namespace kaiseki::conv {
namespace {

// Floats of packed input: 256 KiB, half of a small L2 cache.
constexpr int64_t kBlockFloats = 64 * 1024;

/// The block size, at most limit, that splits `total` into nearly equal blocks.
int64_t balanced(int64_t total, int64_t limit) {
  limit = std::clamp<int64_t>(limit, 1, std::max<int64_t>(total, 1));
  const int64_t blocks = std::max<int64_t>(1, ceil_div(total, limit));
  return ceil_div(total, blocks);
}

}  // namespace

Gather::Gather(int64_t channels, Taps rows, Taps columns, int64_t max_depth)
    : channels_(channels),
      taps_(static_cast<int64_t>(rows.offsets.size() * columns.offsets.size())),
      rows_(std::move(rows)),
      columns_(std::move(columns)) {
  const auto column_taps = static_cast<int64_t>(columns_.offsets.size());
  block_channels_ =
      std::max<int64_t>(1, balanced(channels_, taps_ ? max_depth / taps_ : channels_));
  const int64_t halo = static_cast<int64_t>(packed_rows(rows_, 1).rows.size()) - 1;
  const int64_t row_floats = std::max<int64_t>(1, block_channels_ * column_taps * columns_.out);
  block_rows_ =
      std::max<int64_t>(1, balanced(rows_.out, (kBlockFloats / row_floats - halo) / rows_.stride));
  in_place_ = can_read_in_place();
  packed_ = packed_rows(rows_, block_rows_);
  set_offsets();
}

void Gather::set_offsets() {
  offsets_.clear();
  const auto column_taps = static_cast<int64_t>(columns_.offsets.size());
  const auto packed_count = static_cast<int64_t>(packed_.rows.size());
  for (int64_t c = 0; c < block_channels_; ++c)
    for (int64_t s = 0; s < column_taps; ++s)
      for (size_t r = 0; r < rows_.offsets.size(); ++r)
        offsets_.push_back(in_place_ ? (c * rows_.in + rows_.offsets[r]) * columns_.in
                                     : ((c * column_taps + s) * packed_count + packed_.start[r]) *
                                           columns_.out);
}

void Gather::always_copy() {
  in_place_ = false;
  set_offsets();
}

bool Gather::can_read_in_place() const {
  if (columns_.offsets.size() != 1 || columns_.offsets[0] != 0) return false;
  if (columns_.stride != 1 || columns_.in != columns_.out || rows_.stride != 1) return false;
  for (int64_t offset : rows_.offsets)
    if (offset < 0 || offset + rows_.out > rows_.in) return false;
  constexpr int64_t kWholeVectors = 16;
  return block_rows_ * columns_.out % kWholeVectors == 0 &&
         rows_.out * columns_.out % kWholeVectors == 0;
}

std::vector<int64_t> Gather::positions(int64_t filter_columns, int64_t filter_size) const {
  std::vector<int64_t> positions;
  for (int64_t c = 0; c < channels_; ++c)
    for (int64_t s : columns_.index)
      for (int64_t r : rows_.index) positions.push_back(c * filter_size + r * filter_columns + s);
  return positions;
}

int64_t Gather::packed_floats() const {
  if (in_place_) return 0;
  return block_channels_ * static_cast<int64_t>(columns_.offsets.size() * packed_.rows.size()) *
             columns_.out +
         kPackSlack;
}

int64_t Gather::scratch_floats() const {
  if (in_place_ || taps_ == 0) return 0;
  PackArgs args{};
  args.columns = columns_.offsets.data();
  args.column_taps = static_cast<int64_t>(columns_.offsets.size());
  args.column_stride = columns_.stride;
  args.row_count = static_cast<int64_t>(packed_.rows.size());
  args.out_w = columns_.out;
  return pack_scratch_floats(args);
}

const float* Gather::pack(const float* x, int64_t count, int64_t first_row, float* packed,
                          float* scratch) const {
  if (in_place_) return x + first_row * columns_.in;
  if (taps_ == 0) return packed;
  pack_planes({.x = x,
               .channels = count,
               .in_h = rows_.in,
               .in_w = columns_.in,
               .rows = packed_.rows.data(),
               .first_row = first_row * rows_.stride,
               .row_count = static_cast<int64_t>(packed_.rows.size()),
               .columns = columns_.offsets.data(),
               .column_taps = static_cast<int64_t>(columns_.offsets.size()),
               .column_stride = columns_.stride,
               .out_w = columns_.out,
               .padded = scratch,
               .out = packed});
  return packed;
}

int64_t Gather::last_row(int64_t first_row) const {
  return *std::max_element(packed_.rows.begin(), packed_.rows.end()) + first_row * rows_.stride;
}

void Gather::unpack(const float* packed, int64_t count, int64_t first_row, float* x) const {
  unpack_planes({.packed = packed,
                 .channels = count,
                 .in_h = rows_.in,
                 .in_w = columns_.in,
                 .rows = packed_.rows.data(),
                 .first_row = first_row * rows_.stride,
                 .row_count = static_cast<int64_t>(packed_.rows.size()),
                 .columns = columns_.offsets.data(),
                 .column_taps = static_cast<int64_t>(columns_.offsets.size()),
                 .column_stride = columns_.stride,
                 .out_w = columns_.out,
                 .fresh = first_row == 0 ? 0 : last_row(first_row - block_rows_) + 1,
                 .x = x});
}

float* thread_scratch(int slot, int64_t floats) {
  static thread_local Scratch scratch[4];
  return scratch[slot].reserve(floats);
}

}  // namespace kaiseki::conv
