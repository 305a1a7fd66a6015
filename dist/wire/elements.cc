// SPDX-License-Identifier: MIT
#include "dist/wire/elements.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/bytes.h"
#include "dist/wire/half.h"
#include "matrix/ceil_div.h"
#include "matrix/random.h"
#include "matrix/threads.h"

namespace kaiseki::dist {
namespace {

constexpr int64_t kGrain = 256 * int64_t{kBlock};
constexpr float kLargest = 127;

/// Runs `body(begin, end)` over all elements. Returns whether it returned true for each part.
template <typename Body>
bool all_parts(size_t count, const Body& body) {
  std::atomic<bool> well{true};
  parallel_for(static_cast<int64_t>(count), kGrain, [&](int64_t begin, int64_t end) {
    if (!body(static_cast<size_t>(begin), static_cast<size_t>(end))) well = false;
  });
  return well;
}

float largest(const float* values, size_t count) {
  float most = 0;
  for (size_t i = 0; i < count; ++i) most = std::max(most, std::fabs(values[i]));
  return most;
}

}  // namespace

int half_exponent(std::span<const float> values) {
  const float most = largest(values.data(), values.size());
  return most > 0 ? std::ilogb(most) - 14 : 0;
}

void put_halves(std::span<const float> values, int exponent, std::byte* out) {
  all_parts(values.size(), [&](size_t begin, size_t end) {
    // In two steps, since 2^128 and more are no floats.
    const float first = std::ldexp(1.0f, -exponent / 2);
    const float second = std::ldexp(1.0f, -exponent + exponent / 2);
    for (size_t i = begin; i < end; ++i)
      store_le<uint16_t>(to_half(values[i] * first * second), out + 2 * i);
    return true;
  });
}

void put_bytes(std::span<const float> values, uint64_t seed, uint64_t stream, std::byte* out) {
  const size_t blocks = ceil_div(values.size(), kBlock);
  std::byte* bytes = out + 4 * blocks;
  all_parts(values.size(), [&](size_t begin, size_t end) {
    for (size_t first = begin; first < end; first += kBlock) {
      const size_t count = std::min(kBlock, end - first), block = first / kBlock;
      const float scale = largest(&values[first], count) / kLargest;
      std::memcpy(out + 4 * block, &scale, 4);
      Random random(seed, stream << 32 | block);
      for (size_t i = first; i < first + count; ++i) {
        const float part = scale > 0 ? std::floor(values[i] / scale + random.uniform()) : 0;
        bytes[i] =
            static_cast<std::byte>(static_cast<int8_t>(std::clamp(part, -kLargest, kLargest)));
      }
    }
    return true;
  });
}

bool get_floats(const std::byte* in, std::span<float> values) {
  std::memcpy(values.data(), in, values.size_bytes());
  return all_parts(values.size(), [&](size_t begin, size_t end) {
    return std::all_of(&values[begin], &values[begin] + (end - begin),
                       [](float value) { return std::isfinite(value); });
  });
}

bool get_halves(const std::byte* in, int exponent, std::span<float> values) {
  return all_parts(values.size(), [&](size_t begin, size_t end) {
    const float first = std::ldexp(1.0f, exponent / 2);
    const float second = std::ldexp(1.0f, exponent - exponent / 2);
    bool well = true;
    for (size_t i = begin; i < end; ++i) {
      const auto half = load_le<uint16_t>(in + 2 * i);
      values[i] = from_half(half) * first * second;
      well = well && is_finite_half(half) && std::isfinite(values[i]);
    }
    return well;
  });
}

bool get_bytes(const std::byte* in, std::span<float> values) {
  const size_t blocks = ceil_div(values.size(), kBlock);
  const std::byte* bytes = in + 4 * blocks;
  return all_parts(values.size(), [&](size_t begin, size_t end) {
    bool well = true;
    for (size_t first = begin; first < end; first += kBlock) {
      float scale;
      std::memcpy(&scale, in + 4 * (first / kBlock), 4);
      well = well && std::isfinite(scale * kLargest) && scale >= 0;
      for (size_t i = first; i < std::min(first + kBlock, end); ++i) {
        const auto part = static_cast<int8_t>(bytes[i]);
        well = well && part != -128;
        values[i] = scale * static_cast<float>(part);
      }
    }
    return well;
  });
}

}  // namespace kaiseki::dist
