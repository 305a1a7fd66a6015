// SPDX-License-Identifier: MIT
// The inner loop of SHA-256: adds blocks of 64 bytes to the eight words of state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kaiseki {

using Sha256State = std::array<uint32_t, 8>;

void sha256_blocks(Sha256State& state, const std::byte* from, size_t count);

/// Whether this processor has instructions for SHA-256 (x86's SHA extensions).
bool has_sha256_instructions();
/// As sha256_blocks(), with these instructions. Requires has_sha256_instructions().
void sha256_blocks_by_instructions(Sha256State& state, const std::byte* from, size_t count);

}  // namespace kaiseki
