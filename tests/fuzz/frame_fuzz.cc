// SPDX-License-Identifier: MIT
// Frames. A frame must be the same after writing and reading. Reading the header alone must give
// the same values.
#include <algorithm>

#include "dist/wire/frame.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::dist;

KAISEKI_FUZZ(bytes) {
  const Frame frame = decode_frame(bytes);
  const FrameHeader header = decode_frame_header(bytes);
  if (header.message_bytes() != bytes.size() || header.type != frame.type ||
      header.ticket != frame.ticket || header.payload_bytes != frame.payload.size())
    __builtin_trap();
  const kaiseki::ByteVector written = encode_frame(frame);
  const Frame again = decode_frame(written);
  if (again.type != frame.type || again.ticket != frame.ticket ||
      !(again.control == frame.control) || !std::ranges::equal(again.payload, frame.payload))
    __builtin_trap();
}
