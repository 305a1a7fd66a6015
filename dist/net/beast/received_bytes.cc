// SPDX-License-Identifier: MIT
// unity: alone (the system's header of these names and the C library's exclude each other)
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

namespace kaiseki::dist {

namespace {

/// Counters that the system does not know stay 0.
tcp_info info_of(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return info;
}

}  // namespace

uint64_t received_bytes(int socket) { return info_of(socket).tcpi_bytes_received; }

uint64_t acknowledged_bytes(int socket) { return info_of(socket).tcpi_bytes_acked; }

}  // namespace kaiseki::dist
