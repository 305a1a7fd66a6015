// SPDX-License-Identifier: MIT
// TrainingMemory: an estimate of the memory that training tickets of a network need. The network is
// not built for it.
#pragma once

#include <cstdint>

#include "nn/network_spec.h"

namespace kaiseki::dist {

class TrainingMemory {
 public:
  static constexpr uint64_t kText = 64;  // bytes of a parsed network for each byte of JSON

  /// `text_bytes`: the size of the network's blob.
  TrainingMemory(const nn::NetworkSpec& spec, uint64_t text_bytes);

  /// The bytes for `passes` forward passes with `samples` samples each. At most UINT64_MAX.
  uint64_t needed(int64_t samples, int64_t passes = 1) const;
  /// The memory that an author declares for its tickets. A node keeps up to `passes` forward passes
  /// for their backward passes. For more than one it takes at most 1 GiB.
  uint64_t declared(int64_t samples, int64_t passes) const;

 private:
  double network_ = 0, sample_ = 0;  // bytes
};

}  // namespace kaiseki::dist
