// SPDX-License-Identifier: MIT
// Computes words of a Philox stream (matrix/random.h) in vectors, and random numbers from them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kaiseki::cpu {

/// Words position..position+count of (seed, stream).
void philox_words(uint64_t seed, uint64_t stream, uint64_t position, int64_t count, uint32_t* out);

/// low + (high - low) * u, always below high. u is a multiple of 2^-24 in [0, 1).
void uniform_from_words(const uint32_t* words, float low, float high, float* out, size_t count);
/// value where u < probability, else 0.
void bernoulli_from_words(const uint32_t* words, float probability, float value, float* out,
                          size_t count);
/// mean + deviation * (standard normal of words 2i and 2i+1), computed in double.
void normal_from_words(const uint32_t* words, float mean, float deviation, float* out,
                       size_t count);

}  // namespace kaiseki::cpu
