// SPDX-License-Identifier: MIT
// Counter: the coordinator's events that ServerMetrics counts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace kaiseki::dist {

enum class Counter : uint8_t {
  blob_bytes_sent,
  blobs_collected,
  bytes_received,
  bytes_sent,
  connections,
  connections_failed,
  http_2xx,
  http_3xx,
  http_4xx,
  http_5xx,
  messages_received,
  messages_sent,
  nodes_forgotten,
  tickets_sent,
  transactions_failed,
};

/// The names of the counters in /metrics, without "kaiseki_" and "_total", in the order of the
/// enumeration.
inline constexpr auto kCounters = std::to_array<std::string_view>({
    "blob_bytes_sent",
    "blobs_collected",
    "bytes_received",
    "bytes_sent",
    "connections",
    "connections_failed",
    "http_2xx",
    "http_3xx",
    "http_4xx",
    "http_5xx",
    "messages_received",
    "messages_sent",
    "nodes_forgotten",
    "tickets_sent",
    "transactions_failed",
});
static_assert(kCounters.size() == size_t{1} + static_cast<size_t>(Counter::transactions_failed));
static_assert(std::ranges::is_sorted(kCounters));

/// The counter of answers with this HTTP status, from 200 to 599.
inline Counter http_counter(int status) {
  return static_cast<Counter>(static_cast<int>(Counter::http_2xx) + status / 100 - 2);
}
static_assert(static_cast<int>(Counter::http_5xx) - static_cast<int>(Counter::http_2xx) == 3);

}  // namespace kaiseki::dist
