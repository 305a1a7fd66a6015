// SPDX-License-Identifier: MIT
// What the coordinator lets a peer use, one number each; docs/serve.md is the table for operators.
#pragma once

#include <span>
#include <string_view>

namespace kaiseki::dist {

struct Limits {
  double header_bytes = 8192;
  double header_lines = 64;
  double handshake_seconds = 5;    // to a whole request, TLS included; then to a node's hello
  double keep_alive_seconds = 60;  // between two requests
  double minimum_rate = 1000;      // bytes a second over rate_seconds, once a message has begun
  double rate_seconds = 10;
  double sockets = 20000;
  double sockets_per_address = 32;         // IPv6: per /64
  double connections_per_second = 10;      // of one address, after a burst of sockets_per_address
  double messages_per_second = 200;        // of one node; then its messages wait
  double bytes_per_second = 100000;        // of one node, besides the results of its tickets
  double output_bytes = 64 << 20;          // waiting for one node that does not read
  double output_bytes_of_all = 256 << 20;  // and for all connections
  double ping_seconds = 25;
  double pong_seconds = 10;
  double json_bytes = 8 << 20;  // the author's requests
  double blob_bytes = 256 << 20;
  double input_bytes_of_all = 1 << 30;  // of nodes' messages that are not whole
  double result_bytes = 16 << 20;       // of a ticket that the node held before
  double drain_seconds = 10;
  double log_lines_per_second = 100;
};

struct LimitName {
  std::string_view name;
  double Limits::*value;
};
std::span<const LimitName> limit_names();

/// "sockets=100". Throws Error on another name or a number that is not over 0.
void set_limit(Limits& limits, std::string_view assignment);

}  // namespace kaiseki::dist
