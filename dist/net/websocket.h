// SPDX-License-Identifier: MIT
// WebSocket frames as a server reads and writes them (RFC 6455 section 5), without a socket.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kaiseki::dist {

enum class WebSocketOpcode : uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

/// The header of a frame from a client.
struct WebSocketHeader {
  WebSocketOpcode opcode = WebSocketOpcode::binary;
  bool is_last = true;  // frame of its message
  uint64_t payload_bytes = 0;
  std::array<std::byte, 4> mask = {};
  size_t header_bytes = 0;

  bool is_control() const { return opcode >= WebSocketOpcode::close; }
};

/// Returns nullopt if more bytes are needed. Throws ParseError if the frame violates the RFC.
/// `in_message`: earlier frames began a message that is incomplete.
std::optional<WebSocketHeader> read_websocket_header(ByteView bytes, bool in_message);

/// The code and the reason of a close frame's payload. A payload without a code is a normal end
/// (1000). Throws ParseError if a peer may not send the code, or if the reason is not UTF-8.
struct WebSocketClose {
  uint16_t code = 1000;
  std::string reason = {};
};
WebSocketClose read_websocket_close(ByteView payload);

/// The header of a server's frame, which has no mask and is a whole message.
std::string websocket_header(WebSocketOpcode opcode, uint64_t payload_bytes);
/// A whole control frame. `payload`: at most 125 bytes.
std::string websocket_control(WebSocketOpcode opcode, std::string_view payload);
std::string websocket_close(uint16_t code, std::string_view reason);

/// The value of Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string websocket_accept(std::string_view key);

/// Assembles messages from the bytes of a socket. The caller reads bytes into room(), calls
/// commit() with their number, and calls next() until it returns `more`.
class WebSocketReader {
 public:
  enum class Event : uint8_t {
    more,     // more bytes are needed
    data,     // message() has grown or is complete
    control,  // opcode() and control()
    too_big,  // the message would be larger than `most`
  };

  /// The buffer for the next bytes, never empty. During a long payload it is part of the message.
  std::span<std::byte> room();
  void commit(size_t count);
  /// Throws ParseError if the peer violates the RFC. The reader must not be used afterwards.
  Event next(uint64_t most);

  /// The opcode of the frame that next() reported.
  WebSocketOpcode opcode() const { return opcode_; }
  ByteView control() const { return control_; }
  bool is_text() const { return is_text_; }
  /// Bytes by which the message grew.
  size_t grown() const { return grown_; }
  ByteView message() const { return {message_.data(), size_}; }
  /// If true, the caller calls clear() before the next next().
  bool is_whole() const { return is_whole_; }
  /// Discards the message, but keeps a small buffer.
  void clear();

 private:
  static constexpr size_t kBuffer = 2048;

  bool begin_frame();
  bool take_control();
  size_t take_data();
  void unmask(std::span<std::byte> bytes);
  ByteView pending() const { return {buffer_.data() + begin_, end_ - begin_}; }

  std::array<std::byte, kBuffer> buffer_;
  size_t begin_ = 0, end_ = 0;             // the unread bytes of buffer_
  std::optional<WebSocketHeader> header_;  // of an incomplete frame
  uint64_t left_ = 0;                      // bytes of that frame's payload
  ByteVector message_;                     // bytes after `size_` may be room()
  size_t size_ = 0, direct_ = 0;           // bytes of the message; new bytes after them
  size_t grown_ = 0;
  ByteView control_;
  WebSocketOpcode opcode_ = WebSocketOpcode::binary;
  bool in_message_ = false, is_text_ = false, is_whole_ = false, is_direct_ = false;
};

}  // namespace kaiseki::dist
