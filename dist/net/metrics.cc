// SPDX-License-Identifier: MIT
#include "dist/net/metrics.h"

#include <sstream>

namespace kaiseki::dist {
namespace {

void line(std::ostringstream& out, const std::string& name, auto value) {
  out << "# TYPE kaiseki_" << name << (name.ends_with("_total") ? " counter\n" : " gauge\n");
  out << "kaiseki_" << name << ' ' << value << '\n';
}

}  // namespace

std::string ServerMetrics::text(const std::map<std::string, double>& gauges,
                                const std::map<std::string, uint64_t>& pool) const {
  std::ostringstream out;
  out.precision(15);
  for (const auto& [name, value] : gauges) line(out, name, value);
  for (size_t i = 0; i < counters_.size(); ++i)
    line(out, std::string(kCounters[i]) + "_total", counters_[i]);
  out << "# TYPE kaiseki_refused_total counter\n";
  for (size_t i = 0; i < refused_.size(); ++i)
    out << "kaiseki_refused_total{reason=\"" << kRefusals[i] << "\"} " << refused_[i] << '\n';
  out << "# TYPE kaiseki_pool_total counter\n";
  for (const auto& [event, count] : pool)
    out << "kaiseki_pool_total{event=\"" << event << "\"} " << count << '\n';
  return out.str();
}

}  // namespace kaiseki::dist
