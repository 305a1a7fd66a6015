// SPDX-License-Identifier: MIT
// Metrics: what was refused, by reason, and what was done, in the text format of Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kaiseki::dist {

class Metrics {
 public:
  Metrics();
  /// Counts a refusal. Its reason is one of those in metrics.cc, else Error is thrown.
  void refuse(std::string_view reason);
  uint64_t refused(std::string_view reason) const;
  /// Adds to a counter, which is there with its first use.
  void add(const std::string& name, uint64_t count = 1) { counters_[name] += count; }
  /// All of it, with values of the moment (`gauges`) and further counters of the pool's.
  std::string text(const std::map<std::string, double>& gauges,
                   const std::map<std::string, uint64_t>& pool) const;

 private:
  std::map<std::string, uint64_t, std::less<>> refused_;
  std::map<std::string, uint64_t> counters_;
};

}  // namespace kaiseki::dist
