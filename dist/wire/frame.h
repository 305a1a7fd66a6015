// SPDX-License-Identifier: MIT
// Frames: the messages between coordinator and nodes. Each binary WebSocket message has one frame
// (docs/protocol.md).
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/json.h"

namespace kaiseki::dist {

constexpr size_t kFrameHeaderBytes = 32;
constexpr uint32_t kMaxControlBytes = 64 << 10;
constexpr uint64_t kMaxWireInteger =
    (uint64_t{1} << 53) - 1;  // the largest exact integer in JavaScript

/// Close codes that the coordinator sends: those of RFC 6455 section 7.4.1, and one of its own.
enum class CloseCode : uint16_t {
  going_away = 1001,
  protocol = 1002,
  text = 1003,
  policy = 1008,
  too_big = 1009,
  internal = 1011,
  try_later = 1013,
  expelled = 4001,  // the node was expelled and must not connect again; the reason says why
};

enum class FrameType : uint8_t {
  hello = 1,
  welcome = 2,
  ready = 3,
  ticket = 4,
  result = 5,
  verdict = 6,
  give_back = 7,
  drain = 8,
  echo = 9,
  error = 10,
  cancel = 11,
};

struct FrameHeader {
  FrameType type = FrameType::error;
  uint64_t ticket = 0;  // 0: none
  uint64_t payload_bytes = 0;
  uint32_t control_bytes = 0;

  /// Bytes of the whole message.
  uint64_t message_bytes() const { return kFrameHeaderBytes + control_bytes + payload_bytes; }
};

struct Frame {
  FrameType type = FrameType::error;
  uint64_t ticket = 0;
  Json control = Json::object();
  ByteView payload = {};
};

/// Reads the header of a message. `message` has at least kFrameHeaderBytes. Throws
/// ParseError("frame", "byte N", ...).
FrameHeader decode_frame_header(ByteView message);

/// Reads the header and the control part. The payload may be missing. Throws as decode_frame().
Frame decode_frame_head(ByteView message);

/// Reads a whole message. The payload is a view into `message`. Throws ParseError, also for a wrong
/// control part.
Frame decode_frame(ByteView message);

/// Throws Error if the control part is no JSON object or has more than kMaxControlBytes.
ByteVector encode_frame(const Frame& frame);

}  // namespace kaiseki::dist
