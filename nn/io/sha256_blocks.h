// SPDX-License-Identifier: MIT
// The inner part of SHA-256: blocks of 64 bytes into the eight sums.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kaiseki::nn {

using Sha256State = std::array<uint32_t, 8>;

void sha256_blocks(Sha256State& state, const std::byte* from, size_t count);

/// Whether this processor has instructions for it (x86's SHA extensions).
bool has_sha256_instructions();
/// The same by them; only where there are any.
void sha256_blocks_by_instructions(Sha256State& state, const std::byte* from, size_t count);

}  // namespace kaiseki::nn
