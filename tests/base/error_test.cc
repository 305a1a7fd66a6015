// SPDX-License-Identifier: MIT
#include "base/error.h"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

using namespace kaiseki;

static_assert(std::is_convertible_v<Message, std::string>);
static_assert(std::is_convertible_v<Message, std::string_view>);

TEST_CASE("error: a message has a place and a cause") {
  const std::string text = message("gemm", "expected ", 2, " dimensions, got ", 3);
  CHECK(text == "[gemm] expected 2 dimensions, got 3");
  const ShapeError error(message("gemm", "expected ", 2, " dimensions, got ", 3));
  CHECK(error.what() == text);
  CHECK(error.cause() == "expected 2 dimensions, got 3");
  CHECK(KernelError(message("two words", "[x] y")).cause() == "[x] y");
  CHECK(Error(message("stop")).cause().empty());
  CHECK_THROWS_WITH_AS(require(false, "gemm", "no"), "[gemm] no", ShapeError);
}

TEST_CASE("error: a text without a place is the cause") {
  CHECK(Error("cancelled").cause() == "cancelled");
  CHECK(Error(std::string("[cancelled] x")).cause() == "[cancelled] x");
  CHECK(Error("").cause().empty());
}

TEST_CASE("error: copies and errors made from a message keep the cause") {
  const Error first(message("data", "no room"));
  const DeviceError second(first.as_message() + "; use less");
  CHECK(std::string(second.what()) == "[data] no room; use less");
  CHECK(second.cause() == "no room; use less");
  Error copy(first);
  CHECK(copy.cause() == "no room");
  copy = second;
  CHECK(copy.cause() == "no room; use less");
}

TEST_CASE("error: OutOfMemory has the place memory") {
  const OutOfMemory error("cpu", {.asked = 2048, .used = 1024});
  CHECK(error.cause() ==
        "cpu is out of memory: asked for 2.0 KiB, in use 1.0 KiB, cached 0 B; use a smaller batch");
  CHECK(error.what() == "[memory] " + std::string(error.cause()));
  const OutOfMemory limited("cpu", {.asked = 2048, .used = 1024, .budget = 2560});
  CHECK(limited.cause().find("budget 2.5 KiB, missing 512 B;") != std::string_view::npos);
  const OutOfMemory named(error, "the forward step of layer conv1");
  CHECK(named.cause() ==
        std::string(error.cause()) + "; needed by the forward step of layer conv1");
  CHECK(named.bytes.asked == 2048);
}

TEST_CASE("error: ParseError gives its text without the source") {
  const ParseError error("[a] net: 1.json", "byte 16", "expected a number");
  CHECK(std::string(error.what()) == "[a] net: 1.json: byte 16: expected a number");
  CHECK(error.without_source() == "byte 16: expected a number");
  CHECK(error.cause() == error.what());
  // A zero byte ends the text.
  CHECK(ParseError(std::string("a\0b", 3), "byte 16", "no").without_source().empty());
}
