// SPDX-License-Identifier: MIT
// Random numbers.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Element i comes from Philox word i of (seed, stream), starting at word `position`.
struct RandomArgs {
  enum class Kind : uint8_t { uniform, normal, bernoulli } kind;
  float a,
      b;  // uniform: [a, b); normal: mean, deviation; bernoulli: value b with probability a, else 0
  uint64_t seed, stream, position;  // normal uses two words per element
  Tensor* output;

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const int64_t size = output->size();
    const uint64_t start = position, words = kind == Kind::normal ? 2 : 1;
    into.cut_at(size, [=, this](int64_t first) {
      position = start + words * static_cast<uint64_t>(first);
    });
    into.writes(output, {size}, {0});
  }
};

/// Element i (i32) is low + word * range / 2^32, rounded down, with word i of the stream.
struct RandomIntegersArgs {
  int32_t low;
  uint32_t range;
  uint64_t seed, stream, position;
  Tensor* output;
};

inline constexpr Operation<RandomArgs> kRandom{"random"};
inline constexpr Operation<RandomIntegersArgs> kRandomIntegers{"random_integers"};

}  // namespace kaiseki
