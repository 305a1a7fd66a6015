// SPDX-License-Identifier: MIT
// ServerMetrics: counters of events and of refusals by reason, in the text format of Prometheus.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "dist/net/counter.h"
#include "dist/net/refusal.h"

namespace kaiseki::dist {

class ServerMetrics {
 public:
  void refuse(Refusal reason) { ++refused_[static_cast<size_t>(reason)]; }
  uint64_t refused(Refusal reason) const { return refused_[static_cast<size_t>(reason)]; }
  void add(Counter counter, uint64_t count = 1) {
    counters_[static_cast<size_t>(counter)] += count;
  }
  uint64_t count(Counter counter) const { return counters_[static_cast<size_t>(counter)]; }
  /// The text of all counters, of `gauges` (current values) and of the pool's counters.
  std::string text(const std::map<std::string, double>& gauges,
                   const std::map<std::string, uint64_t>& pool) const;

 private:
  std::array<uint64_t, kRefusals.size()> refused_ = {};
  std::array<uint64_t, kCounters.size()> counters_ = {};
};

}  // namespace kaiseki::dist
