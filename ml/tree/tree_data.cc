// SPDX-License-Identifier: MIT
#include "ml/tree/tree_data.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "matrix/threads.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

/// The distinct values of a feature in the order of their first occurrence, up to 256.
class FewValues {
 public:
  /// The number of the value. Nothing if there are more than 256.
  std::optional<uint8_t> number(float value) {
    const auto bits = std::bit_cast<uint32_t>(value + 0.0f);  // -0 becomes 0
    uint32_t slot = (bits * 0x9E3779B1u) >> 23;
    while (slots_[slot] != 0 && bits_[slots_[slot] - 1u] != bits) slot = (slot + 1) % kSlots;
    if (slots_[slot] == 0) {
      if (count_ == bits_.size()) return std::nullopt;
      bits_[count_] = bits;
      slots_[slot] = static_cast<uint16_t>(++count_);
    }
    return static_cast<uint8_t>(slots_[slot] - 1);
  }

  /// The code of each number: how many values are smaller.
  std::array<uint8_t, 256> codes() const {
    std::array<uint8_t, 256> result{};
    for (size_t i = 0; i < count_; ++i)
      for (size_t j = 0; j < count_; ++j) result[i] += value(j) < value(i);
    return result;
  }

 private:
  static constexpr uint32_t kSlots = 512;
  float value(size_t i) const { return std::bit_cast<float>(bits_[i]); }

  std::array<uint32_t, 256> bits_{};
  std::array<uint16_t, kSlots> slots_{};  // the number of the value + 1
  size_t count_ = 0;
};

/// Writes the codes of the features begin..end. Returns false if one has too many values.
bool encode(const float* x, int64_t rows, int64_t features, int64_t begin, int64_t end,
            uint8_t* codes, const std::atomic<bool>& failed) {
  std::vector<FewValues> few(static_cast<size_t>(end - begin));
  for (int64_t i = 0; i < rows; ++i) {
    if (i % 1024 == 0 && failed.load(std::memory_order_relaxed)) return false;
    for (int64_t j = begin; j < end; ++j) {
      const std::optional<uint8_t> number = few[j - begin].number(x[i * features + j]);
      if (!number) return false;
      codes[i * features + j] = *number;
    }
  }
  std::vector<std::array<uint8_t, 256>> code_of;
  for (const FewValues& values : few) code_of.push_back(values.codes());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = begin; j < end; ++j) {
      uint8_t& code = codes[i * features + j];
      code = code_of[static_cast<size_t>(j - begin)][code];
    }
  return true;
}

/// [rows, features], or empty.
std::vector<uint8_t> encode(const float* x, int64_t rows, int64_t features) {
  constexpr int64_t kTogether = 64;  // a cache line of codes
  std::vector<uint8_t> codes(static_cast<size_t>(rows * features));
  std::atomic<bool> failed{false};
  parallel_for(features, kTogether, [&](int64_t begin, int64_t end) {
    if (!encode(x, rows, features, begin, end, codes.data(), failed)) failed = true;
  });
  if (failed) return {};
  return codes;
}

}  // namespace

TreeData::TreeData(const Tensor& x) : values(on_host(x)) {
  const float* elements = values.data<float>();
  const int64_t rows = values.dim(0);
  // Most sets with many values are recognized by their first rows, before memory is allocated.
  const int64_t first = std::min<int64_t>(rows, 1024);
  if (encode(elements, first, features()).empty()) return;
  codes = encode(elements, rows, features());
}

}  // namespace kaiseki::ml
