// SPDX-License-Identifier: MIT
#include "ml/tree/ranked_columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "matrix/threads.h"
#include "ml/tree/rank_keys.h"

namespace kaiseki::ml {
namespace {

/// An integer with the order of the floats. Both zeros give the same.
uint32_t ordered_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/// The distinct values of a column in the order of their first occurrence, up to 256.
class FewValues {
 public:
  /// The number of the value. Nothing if there are more than 256.
  std::optional<uint8_t> number(uint32_t bits) {
    uint32_t slot = (bits * 0x9E3779B1u) >> 22;
    while (slots_[slot] != 0 && values_[slots_[slot] - 1] != bits) slot = (slot + 1) % kSlots;
    if (slots_[slot] == 0) {
      if (count_ == 256) return std::nullopt;
      values_[count_] = bits;
      slots_[slot] = static_cast<uint16_t>(++count_);
    }
    return static_cast<uint8_t>(slots_[slot] - 1);
  }

  std::array<uint8_t, 256> ranks() const {
    std::array<uint8_t, 256> result{};
    for (size_t i = 0; i < count_; ++i)
      result[i] = static_cast<uint8_t>(std::count_if(values_.begin(), values_.begin() + count_,
                                                     [&](uint32_t v) { return v < values_[i]; }));
    return result;
  }

 private:
  static constexpr uint32_t kSlots = 1024;
  std::array<uint32_t, 256> values_{};
  std::array<uint16_t, kSlots> slots_{};  // the number of the value + 1
  size_t count_ = 0;
};

std::optional<std::vector<uint8_t>> few_ranks(const std::vector<float>& values) {
  FewValues few;
  std::vector<uint8_t> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const std::optional<uint8_t> number = few.number(ordered_bits(values[i]));
    if (!number) return std::nullopt;
    result[i] = *number;
  }
  const std::array<uint8_t, 256> ranks = few.ranks();
  for (uint8_t& rank : result) rank = ranks[rank];
  return result;
}

template <class Rank>
std::vector<Rank> ranks_of(const std::vector<uint64_t>& sorted) {
  std::vector<Rank> result(sorted.size());
  uint32_t rank = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && rank_of(sorted[i]) != rank_of(sorted[i - 1])) ++rank;
    result[static_cast<uint32_t>(sorted[i])] = static_cast<Rank>(rank);
  }
  return result;
}

}  // namespace

RankedColumns::Column RankedColumns::ranks(const std::vector<float>& values) {
  if (auto few = few_ranks(values)) return std::move(*few);
  std::vector<uint64_t> keys(values.size()), scratch(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    keys[i] = rank_key(ordered_bits(values[i]), static_cast<uint32_t>(i));
  sort_rank_keys(keys.data(), scratch.data(), keys.size(), 0, 32);
  size_t distinct = 1;
  for (size_t i = 1; i < keys.size(); ++i) distinct += rank_of(keys[i]) != rank_of(keys[i - 1]);
  if (distinct <= 65536) return ranks_of<uint16_t>(keys);
  return ranks_of<uint32_t>(keys);
}

RankedColumns::RankedColumns(const float* x, int64_t rows, int64_t features)
    : columns_(static_cast<size_t>(features)) {
  // A cache line of a row has 16 values. Long columns are read in smaller groups, to save memory.
  const int64_t group = std::clamp<int64_t>((1 << 21) / rows, 1, 16);
  parallel_for(features, group, [&](int64_t begin, int64_t end) {
    std::vector<std::vector<float>> values(static_cast<size_t>(end - begin));
    for (auto& column : values) column.resize(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = begin; j < end; ++j) values[j - begin][i] = x[i * features + j];
    for (int64_t j = begin; j < end; ++j) columns_[j] = ranks(values[j - begin]);
  });
}

void RankedColumns::assign_rows(const RankedColumns& from, std::span<const uint32_t> rows) {
  columns_.resize(from.columns_.size());
  for (size_t j = 0; j < columns_.size(); ++j)
    std::visit(
        [&](const auto& source) {
          using Ranks = std::decay_t<decltype(source)>;
          if (!std::holds_alternative<Ranks>(columns_[j])) columns_[j] = Ranks();
          Ranks& ranks = std::get<Ranks>(columns_[j]);
          ranks.resize(rows.size());
          for (size_t i = 0; i < rows.size(); ++i) ranks[i] = source[rows[i]];
        },
        from.columns_[j]);
}

}  // namespace kaiseki::ml
