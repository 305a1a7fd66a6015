// SPDX-License-Identifier: MIT
// PassTimeline: predicts the time of a pass whose copies run beside its steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "matrix/cost/rates.h"
#include "nn/execution_plan.h"

namespace kaiseki::nn {

/// A step begins when the step before it and its own copies have ended. Each direction of the link
/// has one copy at a time. A step's tensors come in after others have left to make room.
class PassTimeline {
 public:
  explicit PassTimeline(const LinkRates& link) : link_(link) {}

  /// Adds the next step. `compute`: seconds without copies. `out`: bytes that leave the device to
  /// make room for the step. `in`: bytes that come back for it.
  void add(double compute, uint64_t out, uint64_t in) {
    double begin = end_, room = link_.overlaps ? begins_[0] : end_;
    for (const auto& [bytes, rate, copied] :
         {LinkCopy{out, link_.to_host, out_end_}, LinkCopy{in, link_.to_device, in_end_}}) {
      if (bytes == 0) continue;
      copied = std::max(copied, room) + static_cast<double>(bytes) / rate;
      room = copied;
      begin = std::max(begin, copied);
    }
    std::rotate(begins_.begin(), begins_.begin() + 1, begins_.end());
    begins_.back() = begin;
    end_ = begin + compute + link_.slows * static_cast<double>(out + in);
  }
  double seconds() const { return end_; }

 private:
  struct LinkCopy {
    uint64_t bytes;
    double rate;
    double& copied;  // when the direction is free again
  };
  const LinkRates link_;
  std::array<double, kStepsAhead> begins_ = {};  // of the last steps, the oldest first
  double end_ = 0, out_end_ = 0, in_end_ = 0;    // seconds
};

}  // namespace kaiseki::nn
