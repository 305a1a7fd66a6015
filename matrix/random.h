// SPDX-License-Identifier: MIT
// Philox4x32-10: counter-based random numbers (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC11). They are the same on every backend and for any number of threads.
#pragma once

#include <array>
#include <cstdint>

namespace kaiseki {

/// Returns four 32-bit words for a counter and a key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// A stream of random numbers: word i is philox(i / 4, stream, seed)[i % 4]. Copying a Random
/// copies its position. A checkpoint stores it with position() and restores it with seek().
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  uint32_t next();
  /// Uniform in [0, 1), a multiple of 2^-24.
  float uniform();
  /// Standard normal (Box-Muller on two words).
  float normal();
  /// Uniform in [0, bound), without bias. bound > 0.
  uint64_t below(uint64_t bound);

  uint64_t seed() const { return seed_; }
  uint64_t stream() const { return stream_; }
  uint64_t position() const { return position_; }
  void seek(uint64_t position) { position_ = position; }

 private:
  uint64_t seed_, stream_;
  uint64_t position_ = 0;  // number of words drawn
};

}  // namespace kaiseki
