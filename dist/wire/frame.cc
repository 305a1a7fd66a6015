// SPDX-License-Identifier: MIT
#include "dist/wire/frame.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"

namespace kaiseki::dist {
namespace {

constexpr std::string_view kMagic = "KAIS";
constexpr uint8_t kVersion = 1;

[[noreturn]] void fail(size_t byte, const std::string& what) {
  throw ParseError("frame", "byte " + std::to_string(byte), what);
}

void expect(bool condition, size_t byte, std::string_view expected, uint64_t got) {
  if (!condition) fail(byte, "expected " + std::string(expected) + ", got " + std::to_string(got));
}

}  // namespace

FrameHeader decode_frame_header(ByteView message) {
  expect(message.size() >= kFrameHeaderBytes, 0, "a header of 32 bytes", message.size());
  const std::byte* at = message.data();
  if (!std::ranges::equal(message.first(4), as_bytes(kMagic))) fail(0, "expected \"KAIS\"");
  expect(load_le<uint8_t>(at + 4) == kVersion, 4, "version 1", load_le<uint8_t>(at + 4));
  FrameHeader header;
  const auto type = load_le<uint8_t>(at + 5);
  expect(type >= 1 && type <= static_cast<uint8_t>(FrameType::cancel), 5, "a type from 1 to 11",
         type);
  header.type = static_cast<FrameType>(type);
  expect(load_le<uint16_t>(at + 6) == 0, 6, "no flags", load_le<uint16_t>(at + 6));
  header.ticket = load_le<uint64_t>(at + 8);
  expect(header.ticket <= kMaxWireInteger, 8, "a ticket below 2^53", header.ticket);
  header.payload_bytes = load_le<uint64_t>(at + 16);
  expect(header.payload_bytes <= kMaxWireInteger, 16, "a payload below 2^53 bytes",
         header.payload_bytes);
  header.control_bytes = load_le<uint32_t>(at + 24);
  expect(header.control_bytes <= kMaxControlBytes, 24, "a control part of at most 65536 bytes",
         header.control_bytes);
  expect(load_le<uint32_t>(at + 28) == 0, 28, "zero", load_le<uint32_t>(at + 28));
  return header;
}

Frame decode_frame_head(ByteView message) {
  const FrameHeader header = decode_frame_header(message);
  Frame frame{header.type, header.ticket};
  const ByteView control = message.subspan(kFrameHeaderBytes, header.control_bytes);
  if (!control.empty()) {
    const std::string_view text = as_text(control);
    if (!is_utf8(text)) fail(kFrameHeaderBytes, "expected a control part in UTF-8");
    frame.control = parse_json(text, "frame");
    if (!frame.control.is(Json::Kind::object))
      fail(kFrameHeaderBytes, "expected an object, got " + frame.control.describe());
  }
  return frame;
}

Frame decode_frame(ByteView message) {
  const FrameHeader header = decode_frame_header(message);
  expect(message.size() == header.message_bytes(), kFrameHeaderBytes,
         "a message of " + std::to_string(header.message_bytes()) + " bytes", message.size());
  Frame frame = decode_frame_head(message);
  frame.payload = message.subspan(kFrameHeaderBytes + header.control_bytes);
  return frame;
}

ByteVector encode_frame(const Frame& frame) {
  const std::string control = frame.control.keys.empty() ? "" : format_json_line(frame.control);
  if (!frame.control.is(Json::Kind::object) || control.size() > kMaxControlBytes)
    throw Error(message("frame", "expected a control part of at most ", kMaxControlBytes,
                        " bytes, got ", control.size()));
  ByteVector out(kFrameHeaderBytes + control.size() + frame.payload.size());
  std::ranges::copy(as_bytes(kMagic), out.begin());
  store_le(kVersion, &out[4]);
  store_le(static_cast<uint8_t>(frame.type), &out[5]);
  store_le(frame.ticket, &out[8]);
  store_le(static_cast<uint64_t>(frame.payload.size()), &out[16]);
  store_le(static_cast<uint32_t>(control.size()), &out[24]);
  std::ranges::copy(as_bytes(control), out.begin() + kFrameHeaderBytes);
  std::ranges::copy(frame.payload, out.end() - static_cast<ptrdiff_t>(frame.payload.size()));
  return out;
}

}  // namespace kaiseki::dist
