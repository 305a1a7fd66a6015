// SPDX-License-Identifier: MIT
// Sorting of 64-bit keys by their high half: a rank. The low half travels with it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kaiseki::ml {

inline uint64_t rank_key(uint32_t rank, uint32_t payload) {
  return static_cast<uint64_t>(rank) << 32 | payload;
}
inline uint32_t rank_of(uint64_t key) { return static_cast<uint32_t>(key >> 32); }

inline void insertion_sort(uint64_t* keys, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    const uint64_t key = keys[i];
    size_t j = i;
    for (; j > 0 && rank_of(keys[j - 1]) > rank_of(key); --j) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

/// Sorts keys whose ranks are `least` to `least` + 2^bits - 1. Keys of one rank keep their order.
/// scratch has room for `count` keys.
inline void sort_rank_keys(uint64_t* keys, uint64_t* scratch, size_t count, uint32_t least,
                           int bits) {
  constexpr size_t kFew = 24;
  constexpr int kMostBits = 10;
  if (count <= kFew) return insertion_sort(keys, count);
  if (bits == 0) return;
  // About two keys for each bucket, so that most buckets need no second pass.
  const int digit = std::min({bits, kMostBits, static_cast<int>(std::bit_width(count)) - 2});
  const int shift = bits - digit;
  const uint32_t mask = (1u << digit) - 1;
  const auto bucket = [&](uint64_t key) { return (rank_of(key) - least) >> shift & mask; };
  uint32_t begins[(1 << kMostBits) + 1];
  std::fill_n(begins, mask + 2, 0u);
  for (size_t i = 0; i < count; ++i) ++begins[bucket(keys[i]) + 1];
  for (uint32_t b = 0; b < mask; ++b) begins[b + 1] += begins[b];
  for (size_t i = 0; i < count; ++i) scratch[begins[bucket(keys[i])]++] = keys[i];
  std::copy_n(scratch, count, keys);
  if (shift == 0) return;
  for (uint32_t b = 0, begin = 0; b <= mask; begin = begins[b++])
    if (begins[b] - begin > 1)
      sort_rank_keys(keys + begin, scratch, begins[b] - begin, least, shift);
}

}  // namespace kaiseki::ml
