// SPDX-License-Identifier: MIT
// The elements of one tensor as bytes, by type, and back. Inside dist/wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dist/wire/tensors.h"

namespace kaiseki::dist {

inline constexpr size_t kBlock = 256;  // elements that share a scale in i8

/// The power of two that brings the largest value of f16 to 16384 or more, below 32768.
int half_exponent(std::span<const float> values);

/// All write wire_bytes() of them.
void put_halves(std::span<const float> values, int exponent, std::byte* out);
void put_bytes(std::span<const float> values, uint64_t seed, uint64_t stream, std::byte* out);

/// Read the same; false for a value that is not finite, or not one of the type's.
bool get_floats(const std::byte* in, std::span<float> values);
bool get_halves(const std::byte* in, int exponent, std::span<float> values);
bool get_bytes(const std::byte* in, std::span<float> values);

}  // namespace kaiseki::dist
