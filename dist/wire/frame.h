// SPDX-License-Identifier: MIT
// Frames: what coordinator and nodes say to each other, one in each binary WebSocket message
// (docs/protocol.md).
#pragma once

#include <cstdint>
#include <string_view>

#include "nn/io/bytes.h"
#include "nn/json.h"

namespace kaiseki::dist {

constexpr size_t kFrameHeaderBytes = 32;
constexpr uint32_t kMaxControlBytes = 64 << 10;
constexpr uint64_t kMaxWireInteger = (uint64_t{1} << 53) - 1;  // what JavaScript's numbers hold

/// How the reason begins for which a connection is closed (code 1008) whose node was put out: it is
/// not to come again.
constexpr std::string_view kPutOut = "the node was expelled";

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

  /// Of the message that has this header.
  uint64_t message_bytes() const { return kFrameHeaderBytes + control_bytes + payload_bytes; }
};

struct Frame {
  FrameType type = FrameType::error;
  uint64_t ticket = 0;
  nn::Json control = nn::Json::object();
  nn::ByteView payload = {};
};

/// Of the first kFrameHeaderBytes of a message, or more. Throws ParseError("frame", "byte N", ...).
FrameHeader decode_frame_header(nn::ByteView message);

/// Of a message whose header and control part are there: without the payload. Throws as below.
Frame decode_frame_head(nn::ByteView message);

/// The payload lies in `message`. Throws ParseError as above, or of the control part.
Frame decode_frame(nn::ByteView message);

/// Throws Error when the control part is not an object of at most kMaxControlBytes.
nn::ByteVector encode_frame(const Frame& frame);

}  // namespace kaiseki::dist
