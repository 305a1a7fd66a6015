// SPDX-License-Identifier: MIT
// Sorting the samples of a node by a feature. The high half of a key of 64 bits is the value, as an
// integer of the same order. The low half is the payload of the value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kaiseki::ml {

/// An integer with the order of the values. A float must not be -0.
inline uint32_t ordered(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return bits ^ (bits & 0x80000000u ? 0xffffffffu : 0x80000000u);
}
inline uint32_t ordered(uint8_t value) { return value; }

inline uint64_t value_key(uint32_t order, uint32_t payload) {
  return static_cast<uint64_t>(order) << 32 | payload;
}
inline uint32_t order_of(uint64_t key) { return static_cast<uint32_t>(key >> 32); }
inline uint32_t payload_of(uint64_t key) { return static_cast<uint32_t>(key); }

inline float float_of(uint64_t key) {
  const uint32_t order = order_of(key);
  return std::bit_cast<float>(order ^ (order & 0x80000000u ? 0x80000000u : 0xffffffffu));
}

inline void insertion_sort(std::span<uint64_t> keys) {
  for (size_t i = 1; i < keys.size(); ++i) {
    const uint64_t key = keys[i];
    size_t j = i;
    for (; j > 0 && order_of(keys[j - 1]) > order_of(key); --j) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

/// Sorts by buckets of equal width, which takes linear time for most distributions of values. The
/// order of equal values depends only on the input. Keeps its memory.
class KeySorter {
 public:
  /// Returns the sorted keys of values[i] and payload(i). They are valid until the next call.
  /// low < high are the limits of the values.
  template <class Payload>
  std::span<uint64_t> sort(std::span<const float> values, float low, float high,
                           const Payload& payload) {
    const std::span<uint64_t> keys = make_room(values.size());
    const auto key = [&](size_t i) { return value_key(ordered(values[i]), payload(i)); };
    if (values.size() <= kFew) {
      for (size_t i = 0; i < keys.size(); ++i) keys[i] = key(i);
    } else {
      const Buckets buckets(values.size(), low, high);
      scatter(buckets.count, values.size(), keys, key,
              [&](size_t i) { return buckets(values[i]); });
      sort_large_buckets(keys, 0);
    }
    insertion_sort(keys);
    return keys;
  }

  template <class Payload>
  std::span<uint64_t> sort(std::span<const uint8_t> values, uint8_t low, uint8_t high,
                           const Payload& payload) {
    const std::span<uint64_t> keys = make_room(values.size());
    const auto key = [&](size_t i) { return value_key(values[i], payload(i)); };
    if (values.size() <= kFew) {
      for (size_t i = 0; i < keys.size(); ++i) keys[i] = key(i);
      insertion_sort(keys);
    } else {
      scatter(size_t{high} - low + 1, values.size(), keys, key,
              [&](size_t i) { return static_cast<uint32_t>(values[i] - low); });
    }
    return keys;
  }

 private:
  static constexpr size_t kFew = 24;        // up to this number of keys, insertion sort is faster
  static constexpr size_t kBuckets = 4096;  // at most, so that their ends stay in the cache
  static constexpr int kPasses = 4;         // then the distribution is too uneven

  struct Buckets {
    Buckets(size_t n, float least, float most)
        : count(std::min(std::bit_ceil(n), kBuckets)),
          low(least),
          scale(static_cast<double>(count - 1) / (static_cast<double>(most) - low)) {}
    /// Rounding keeps the order of values.
    uint32_t operator()(float value) const {
      return static_cast<uint32_t>((static_cast<double>(value) - low) * scale);
    }
    size_t count;
    double low, scale;
  };

  std::span<uint64_t> make_room(size_t n) {
    if (keys_.size() < n) keys_.resize(n);
    return std::span(keys_).first(n);
  }

  /// Writes key(i) to the keys in the order of bucket(i).
  template <class Key, class Bucket>
  void scatter(size_t count, size_t n, std::span<uint64_t> keys, const Key& key,
               const Bucket& bucket) {
    ends_.assign(count + 1, 0);
    if (bucket_of_.size() < n) bucket_of_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const uint32_t b = bucket(i);
      bucket_of_[i] = static_cast<uint16_t>(b);
      ++ends_[b + 1];
    }
    for (size_t b = 1; b < count; ++b) ends_[b] += ends_[b - 1];
    for (size_t i = 0; i < n; ++i) keys[ends_[bucket_of_[i]]++] = key(i);
  }

  /// Sorts the buckets that insertion would sort slowly.
  void sort_large_buckets(std::span<uint64_t> keys, int pass) {
    std::vector<std::span<uint64_t>> large;
    for (size_t begin = 0, b = 0; begin < keys.size(); begin = ends_[b++])
      if (ends_[b] - begin > kFew) large.push_back(keys.subspan(begin, ends_[b] - begin));
    for (const std::span<uint64_t> bucket : large) {
      const auto by_value = [](uint64_t a, uint64_t b) { return order_of(a) < order_of(b); };
      const auto ends = std::minmax_element(bucket.begin(), bucket.end(), by_value);
      const float low = float_of(*ends.first), high = float_of(*ends.second);
      if (low == high) continue;
      if (pass == kPasses) {
        std::sort(bucket.begin(), bucket.end());
        continue;
      }
      const Buckets buckets(bucket.size(), low, high);
      copy_.assign(bucket.begin(), bucket.end());
      scatter(
          buckets.count, bucket.size(), bucket, [&](size_t i) { return copy_[i]; },
          [&](size_t i) { return buckets(float_of(copy_[i])); });
      sort_large_buckets(bucket, pass + 1);
    }
  }

  std::vector<uint64_t> keys_, copy_;
  std::vector<uint32_t> ends_;
  std::vector<uint16_t> bucket_of_;
};

}  // namespace kaiseki::ml
