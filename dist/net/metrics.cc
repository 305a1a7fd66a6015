// SPDX-License-Identifier: MIT
#include "dist/net/metrics.h"

#include <sstream>

#include "base/error.h"

namespace kaiseki::dist {
namespace {

constexpr std::string_view kReasons[] = {
    "author_token",
    "body_bytes",
    "byte_rate",
    "connection_rate",
    "expelled_address",
    "forwarded",
    "fragments",
    "frame",
    "frame_bytes",
    "handshake_time",
    "header_bytes",
    "header_lines",
    "hello",
    "host",
    "input_bytes_of_all",
    "link_rate",
    "message_rate",
    "node_key",
    "node_token",
    "not_finite",
    "origin",
    "output_bytes",
    "output_bytes_of_all",
    "ping_rate",
    "ping_rate_of_all",
    "pong_time",
    "replay",
    "request",
    "result",
    "slow",
    "sockets",
    "sockets_per_address",
    "sockets_per_network",
    "stale",
    "text_message",
    "websocket",
    "wrong_form",
    "wrong_value",
};

void line(std::ostringstream& out, const std::string& name, auto value) {
  out << "# TYPE kaiseki_" << name << (name.ends_with("_total") ? " counter\n" : " gauge\n");
  out << "kaiseki_" << name << ' ' << value << '\n';
}

}  // namespace

Metrics::Metrics() {
  for (std::string_view reason : kReasons) refused_.emplace(reason, 0);
}

void Metrics::refuse(std::string_view reason) {
  const auto found = refused_.find(reason);
  if (found == refused_.end())
    throw Error(message("metrics", "expected a known reason, got '", reason, "'"));
  ++found->second;
}

uint64_t Metrics::refused(std::string_view reason) const {
  const auto found = refused_.find(reason);
  return found == refused_.end() ? 0 : found->second;
}

std::string Metrics::text(const std::map<std::string, double>& gauges,
                          const std::map<std::string, uint64_t>& pool) const {
  std::ostringstream out;
  out.precision(15);
  for (const auto& [name, value] : gauges) line(out, name, value);
  for (const auto& [name, value] : counters_) line(out, name + "_total", value);
  out << "# TYPE kaiseki_refused_total counter\n";
  for (const auto& [reason, count] : refused_)
    out << "kaiseki_refused_total{reason=\"" << reason << "\"} " << count << '\n';
  out << "# TYPE kaiseki_pool_total counter\n";
  for (const auto& [event, count] : pool)
    out << "kaiseki_pool_total{event=\"" << event << "\"} " << count << '\n';
  return out.str();
}

}  // namespace kaiseki::dist
