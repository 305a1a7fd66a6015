// SPDX-License-Identifier: MIT
// IEEE 754 binary16: conversion from and to float. Rounds to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace kaiseki::dist {

/// The half of a finite number. A number beyond 65504, the largest half, becomes 65504.
inline uint16_t to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  if (size >= 0x477fe000) return static_cast<uint16_t>(sign | 0x7bff);
  if (size >= 0x38800000)
    return static_cast<uint16_t>(sign | ((size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13));
  // Below 2^-14 the last bit of a half is 2^-24, like that of a float in [0.5, 1).
  const uint32_t moved = std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5f);
  return static_cast<uint16_t>(sign | (moved - 0x3f000000));
}

/// Whether the half is neither infinite nor NaN.
inline bool is_finite_half(uint16_t half) { return (half & 0x7c00) != 0x7c00; }

/// The float of a finite half.
inline float from_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, size = half & 0x7fff;
  if (size >= 0x400) return std::bit_cast<float>(sign | ((size << 13) + 0x38000000));
  const float small = static_cast<float>(size) * 0x1p-24f;
  return sign ? -small : small;
}

}  // namespace kaiseki::dist
