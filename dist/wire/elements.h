// SPDX-License-Identifier: MIT
// Converts the elements of one tensor to bytes, by type, and back. Internal to dist/wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kaiseki::dist {

inline constexpr size_t kBlock = 256;  // elements that share a scale in i8

/// The power of two that scales the largest value of an f16 tensor into [16384, 32768).
int half_exponent(std::span<const float> values);

/// Each writes wire_bytes() bytes.
void put_halves(std::span<const float> values, int exponent, std::byte* out);
void put_bytes(std::span<const float> values, uint64_t seed, uint64_t stream, std::byte* out);

/// Each reads wire_bytes() bytes. Returns false if a value is not finite or not of the type.
bool get_floats(const std::byte* in, std::span<float> values);
bool get_halves(const std::byte* in, int exponent, std::span<float> values);
bool get_bytes(const std::byte* in, std::span<float> values);

}  // namespace kaiseki::dist
