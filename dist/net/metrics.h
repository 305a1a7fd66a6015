// SPDX-License-Identifier: MIT
// Metrics: counters of events and of refusals by reason, in the text format of Prometheus.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "dist/net/refusal.h"

namespace kaiseki::dist {

class Metrics {
 public:
  void refuse(Refusal reason) { ++refused_[static_cast<size_t>(reason)]; }
  uint64_t refused(Refusal reason) const { return refused_[static_cast<size_t>(reason)]; }
  /// Adds to a counter. The first call creates the counter.
  void add(const std::string& name, uint64_t count = 1) { counters_[name] += count; }
  /// The value of a counter. 0: it does not exist.
  uint64_t count(const std::string& name) const {
    const auto found = counters_.find(name);
    return found == counters_.end() ? 0 : found->second;
  }
  /// The text of all counters, of `gauges` (current values) and of the pool's counters.
  std::string text(const std::map<std::string, double>& gauges,
                   const std::map<std::string, uint64_t>& pool) const;

 private:
  std::array<uint64_t, kRefusals.size()> refused_ = {};
  std::map<std::string, uint64_t> counters_;
};

}  // namespace kaiseki::dist
