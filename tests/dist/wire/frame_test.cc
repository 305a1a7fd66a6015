// SPDX-License-Identifier: MIT
// Frames against the test vectors. The JavaScript side passes the same vectors.
#include "dist/wire/frame.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using namespace kaiseki::dist;

namespace {

Json vectors() {
  const ByteVector bytes =
      read_file(std::filesystem::path(test::source_dir()) / "tests/dist/wire/vectors/frames.json");
  return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "vectors");
}

ByteVector from_hex(const std::string& text) {
  ByteVector bytes;
  for (size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

const char* const kNames[] = {"",        "hello",     "welcome", "ready", "ticket", "result",
                              "verdict", "give_back", "drain",   "echo",  "error",  "cancel"};

Frame with_control_of(size_t bytes) {
  Frame frame{FrameType::echo};
  frame.control.set("x", std::string(bytes - std::string_view("{\"x\": \"\"}").size(), 'y'));
  return frame;
}

}  // namespace

TEST_CASE("frames: the valid test vectors survive a round trip") {
  const Json all = vectors();
  const auto& good = all.find("good")->items;
  CHECK(good.size() >= 15);
  for (const Json& one : good) {
    CAPTURE(one.find("name")->string);
    const ByteVector message = from_hex(one.find("hex")->string);
    const ByteVector payload = from_hex(one.find("payload_hex")->string);
    Frame frame = decode_frame(message);
    ByteVector again;
    for (int round = 0; round < 2; ++round) {
      CHECK(kNames[static_cast<int>(frame.type)] == one.find("type")->string);
      CHECK(static_cast<double>(frame.ticket) == one.find("ticket")->number);
      CHECK(frame.control == *one.find("control"));
      CHECK(std::ranges::equal(frame.payload, payload));
      again = encode_frame(frame);
      frame = decode_frame(again);
    }
  }
}

TEST_CASE("frames: the invalid test vectors are refused with the place") {
  const Json all = vectors();
  const auto& bad = all.find("bad")->items;
  CHECK(bad.size() >= 26);
  for (const Json& one : bad) {
    CAPTURE(one.find("name")->string);
    CHECK_THROWS_AS(decode_frame(from_hex(one.find("hex")->string)), ParseError);
  }
}

TEST_CASE("frames: a control part has at most 65536 bytes") {
  const ByteVector largest = encode_frame(with_control_of(kMaxControlBytes));
  CHECK(largest.size() == kFrameHeaderBytes + 65536);
  CHECK(decode_frame(largest).control.find("x")->string.size() == 65527);
  CHECK_THROWS_AS(encode_frame(with_control_of(kMaxControlBytes + 1)), Error);
  ByteVector announced(kFrameHeaderBytes + 65537, std::byte{' '});
  std::ranges::copy(std::span(largest).first(kFrameHeaderBytes), announced.begin());
  store_le(uint32_t{65537}, &announced[24]);
  CHECK_THROWS_WITH_AS(decode_frame_header(announced), doctest::Contains("65536"), ParseError);
}
