// SPDX-License-Identifier: MIT
// Refusal: the reasons for which the coordinator refuses a connection, a request or a message.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dist/trust/expulsion.h"

namespace kaiseki::dist {

enum class Refusal : uint8_t {
  author_token,
  body_bytes,
  byte_rate,
  connection_rate,
  expelled_address,
  forwarded,
  fragments,
  frame,
  frame_bytes,
  handshake_time,
  header_bytes,
  header_lines,
  hello,
  host,
  input_bytes_of_all,
  link_rate,
  message_rate,
  node_key,
  node_token,
  not_finite,
  origin,
  output_bytes,
  output_bytes_of_all,
  ping_rate,
  ping_rate_of_all,
  pong_time,
  replay,
  request,
  result,
  slow,
  sockets,
  sockets_per_address,
  sockets_per_network,
  stale,
  text_message,
  websocket,
  wrong_form,
  wrong_value,
};

/// The names of the reasons in /metrics, in the order of the enumeration.
inline constexpr auto kRefusals = std::to_array<std::string_view>({
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
});
static_assert(kRefusals.size() == size_t{1} + static_cast<size_t>(Refusal::wrong_value));
static_assert(std::ranges::is_sorted(kRefusals));

/// The reason that counts if an author expels a node.
inline std::optional<Refusal> refusal_of(ExpulsionKind kind) {
  switch (kind) {
    case ExpulsionKind::other:
      return std::nullopt;
    case ExpulsionKind::wrong_value:
      return Refusal::wrong_value;
    case ExpulsionKind::wrong_form:
      return Refusal::wrong_form;
    case ExpulsionKind::not_finite:
      return Refusal::not_finite;
  }
  return std::nullopt;
}

}  // namespace kaiseki::dist
