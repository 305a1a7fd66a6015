// SPDX-License-Identifier: MIT
// NodeTraffic: the bytes that a working node sends and receives, averaged over the nodes and the
// last minutes. Volunteers see it before they join.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace kaiseki::dist {

class NodeTraffic {
 public:
  /// Call it about once a second. `bytes`: all bytes of nodes since the start. `working`: the
  /// nodes that had a ticket since the last call, which was `seconds` ago.
  void tick(double seconds, uint64_t bytes, size_t working) {
    const auto more = static_cast<double>(bytes - last_bytes_);
    last_bytes_ = bytes;
    if (working == 0) return;  // the last average remains
    const double fade = std::exp(-seconds / kSeconds);
    bytes_ = bytes_ * fade + more;
    node_seconds_ = node_seconds_ * fade + seconds * static_cast<double>(working);
  }

  /// Empty if no node has worked yet.
  std::optional<double> bytes_an_hour() const {
    if (node_seconds_ > 0) return 3600 * bytes_ / node_seconds_;
    return std::nullopt;
  }

 private:
  static constexpr double kSeconds = 60;
  uint64_t last_bytes_ = 0;
  double bytes_ = 0, node_seconds_ = 0;
};

}  // namespace kaiseki::dist
