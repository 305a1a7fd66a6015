// SPDX-License-Identifier: MIT
// Limits: the coordinator's resources that a peer may use. docs/serve.md has the table for
// operators.
#pragma once

#include <span>
#include <string_view>

namespace kaiseki::dist {

struct Limits {
  double header_bytes = 8192;
  double header_lines = 64;
  double handshake_seconds =
      5;  // until the request is complete, TLS included; then until the hello
  double keep_alive_seconds = 60;  // between two requests
  double minimum_rate = 1000;      // bytes a second over rate_seconds, during a message
  double rate_seconds = 10;
  double sockets = 20000;
  double sockets_per_address = 32;         // IPv6: per /64
  double sockets_per_network = 1024;       // newcomers per IPv4 /24 or IPv6 /48
  double connections_per_second = 10;      // per address, after a burst of sockets_per_address
  double messages_per_second = 200;        // per node; further messages wait
  double pings_per_second = 1;             // pings and pongs per node, after a burst of 20 s
  double pings_of_all_per_second = 1000;   // pings, pongs and echoes of all nodes without a token
  double bytes_per_second = 100000;        // per node, besides the results of its tickets
  double output_bytes = 64 << 20;          // waiting for one node
  double output_bytes_of_all = 256 << 20;  // waiting for all connections
  double ping_seconds = 25;
  double pong_seconds = 10;
  double json_bytes = 8 << 20;  // of an author's request
  double blob_bytes = 256 << 20;
  double input_bytes_of_all = 1 << 30;  // of all incomplete messages of nodes
  double result_bytes = 16 << 20;       // per result of a ticket that the node held before
  double drain_seconds = 10;
  double log_lines_per_second = 100;
};

struct LimitName {
  std::string_view name;
  double Limits::*value;
};
std::span<const LimitName> limit_names();

/// `assignment`: for example "sockets=100". Throws Error if the name is unknown or the number is
/// not positive.
void set_limit(Limits& limits, std::string_view assignment);

}  // namespace kaiseki::dist
