// SPDX-License-Identifier: MIT
// WebSocket frames from chunks of any size.
#include "dist/net/websocket.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"

namespace kaiseki::dist {
namespace {

using Event = WebSocketReader::Event;

std::string masked(std::string_view payload, unsigned first = 0x82, uint64_t length = UINT64_MAX) {
  if (length == UINT64_MAX) length = payload.size();
  std::string out = websocket_header(WebSocketOpcode::binary, length);
  out[0] = static_cast<char>(first);
  out[1] = static_cast<char>(out[1] | 0x80);
  const std::string mask = "\x01\x80\xff\x33";
  out += mask;
  for (size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ mask[i % 4]);
  return out;
}

std::string numbers(size_t count) {
  std::string text;
  while (text.size() < count) text += std::to_string(text.size()) + ',';
  return text.substr(0, count);
}

/// Passes chunks to a reader. Returns the messages and control frames as text.
struct Heard {
  std::vector<std::string> messages, controls;
  bool too_big = false;
};
Heard hear(std::string_view bytes, size_t piece, uint64_t most = 1 << 20) {
  Heard heard;
  WebSocketReader reader;
  while (!bytes.empty()) {
    const auto room = reader.room();
    REQUIRE(!room.empty());
    const size_t count = std::min({piece, room.size(), bytes.size()});
    std::ranges::copy(as_bytes(bytes.substr(0, count)), room.begin());
    bytes.remove_prefix(count);
    reader.commit(count);
    for (Event event; (event = reader.next(most)) != Event::more;) {
      if (event == Event::too_big) return heard.too_big = true, heard;
      if (event == Event::control) heard.controls.emplace_back(as_text(reader.control()));
      if (event != Event::data || !reader.is_whole()) continue;
      heard.messages.push_back((reader.is_text() ? "text " : "") +
                               std::string(as_text(reader.message())));
      reader.clear();
    }
  }
  return heard;
}

void refuses(const std::string& bytes) {
  CAPTURE(bytes.size());
  CHECK_THROWS_AS(hear(bytes, 1), ParseError);
  CHECK_THROWS_AS(hear(bytes, 1 << 20), ParseError);
}

}  // namespace

TEST_CASE("websocket: messages, fragments and control frames from chunks of any size") {
  const std::string large = numbers(300000), middle = numbers(5000), some = numbers(200);
  const std::string bytes = masked("a") + masked("", 0x82) + masked("t", 0x81) + masked(large) +
                            masked("ping", 0x89) + masked(middle, 0x02) + masked("pong", 0x8a) +
                            masked("", 0x00) + masked(some, 0x00) + masked("", 0x80) +
                            masked("\x03\xe8", 0x88);
  for (size_t piece : {1, 2, 3, 7, 100, 1447, 2048, 65536, 1 << 20}) {
    CAPTURE(piece);
    const Heard heard = hear(bytes, piece);
    CHECK(heard.messages == std::vector<std::string>{"a", "", "text t", large, middle + some});
    CHECK(heard.controls == std::vector<std::string>{"ping", "pong", "\x03\xe8"});
  }
}

TEST_CASE("websocket: a message over the limit is refused at its header") {
  CHECK_FALSE(hear(masked(numbers(100)), 9, 100).too_big);
  CHECK(hear(masked("", 0x82, 101), 9, 100).too_big);
  CHECK(hear(masked("", 0x82, (uint64_t{1} << 63) - 1), 9, 100).too_big);
  CHECK(hear(masked(numbers(60), 0x02) + masked("", 0x80, 41), 9, 100).too_big);
  CHECK_FALSE(hear(masked(numbers(60), 0x02) + masked(numbers(40), 0x80), 9, 100).too_big);
}

TEST_CASE("websocket: frames that violate the RFC are refused") {
  refuses(masked("x", 0xc2));                           // a reserved bit
  refuses(masked("x", 0x83));                           // opcode 3
  refuses(masked("x", 0x8b));                           // opcode 11
  refuses(masked("x", 0x80));                           // a continuation without a start
  refuses(masked("x", 0x02) + masked("x", 0x82));       // two messages
  refuses(masked("x", 0x09));                           // half a ping
  refuses(masked(numbers(126), 0x89));                  // a long ping
  refuses(std::string("\x82\x01x", 3));                 // no mask
  refuses(std::string("\x82\xfe\x00\x7d\0\0\0\0", 8));  // 125 in 16 bits
  refuses(std::string("\x82\xff\0\0\0\0\0\0\xff\xff\0\0\0\0", 14));  // in 64 bits
  refuses(std::string("\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0", 14));    // a sign
}

TEST_CASE("websocket: close codes that a peer may send, and others") {
  const auto close = [](unsigned code, const std::string& reason = {}) {
    const std::string payload = std::string{static_cast<char>(code >> 8), static_cast<char>(code)};
    return read_websocket_close(as_bytes(payload + reason));
  };
  CHECK(read_websocket_close({}).code == 1000);
  CHECK(close(1001, "bye").reason == "bye");
  for (unsigned code : {1000, 1003, 1007, 1011, 1014, 3000, 4999}) CHECK(close(code).code == code);
  for (unsigned code : {0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535})
    CHECK_THROWS_AS(close(code), ParseError);
  CHECK_THROWS_AS(close(1000, "\xff"), ParseError);
  CHECK_THROWS_AS(read_websocket_close(as_bytes("x")), ParseError);
}

TEST_CASE("websocket: frames that a server sends") {
  CHECK(websocket_header(WebSocketOpcode::binary, 125) == "\x82\x7d");
  CHECK(websocket_header(WebSocketOpcode::binary, 126) == std::string("\x82\x7e\x00\x7e", 4));
  CHECK(websocket_header(WebSocketOpcode::binary, 65536) ==
        std::string("\x82\x7f\0\0\0\0\0\x01\0\0", 10));
  CHECK(websocket_close(1002, "no") == "\x88\x04\x03\xeano");
  CHECK(websocket_control(WebSocketOpcode::pong, numbers(200)).size() == 127);
  CHECK(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

}  // namespace kaiseki::dist
