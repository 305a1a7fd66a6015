// SPDX-License-Identifier: MIT
// WebSocket frames. Reading them in one piece and byte by byte must give the same messages.
#include <algorithm>
#include <string>
#include <vector>

#include "dist/net/websocket.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::dist;
using Event = WebSocketReader::Event;

namespace {

constexpr uint64_t kMost = 1 << 16;

/// Returns messages and control frames in order. An error is the last element.
std::vector<std::string> hear(kaiseki::ByteView bytes, size_t piece) {
  std::vector<std::string> heard;
  WebSocketReader reader;
  try {
    while (!bytes.empty()) {
      const auto room = reader.room();
      if (room.empty()) __builtin_trap();
      const size_t count = std::min({piece, room.size(), bytes.size()});
      std::copy_n(bytes.begin(), count, room.begin());
      bytes = bytes.subspan(count);
      reader.commit(count);
      for (Event event; (event = reader.next(kMost)) != Event::more;) {
        if (event == Event::too_big) return heard.emplace_back("too big"), heard;
        if (reader.message().size() > kMost) __builtin_trap();
        if (event == Event::control) {
          heard.emplace_back(kaiseki::as_text(reader.control()));
          if (reader.opcode() == WebSocketOpcode::close) read_websocket_close(reader.control());
        } else if (reader.is_whole()) {
          heard.emplace_back(kaiseki::as_text(reader.message()));
          reader.clear();
        }
      }
    }
  } catch (const kaiseki::ParseError& error) {
    heard.emplace_back(error.what());
  }
  return heard;
}

}  // namespace

KAISEKI_FUZZ(bytes) {
  if (hear(bytes, bytes.size()) != hear(bytes, 1)) __builtin_trap();
}
