// SPDX-License-Identifier: MIT
#include "dist/wire/delta.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/error.h"
#include "dist/wire/tensors.h"
#include "matrix/random.h"

namespace kaiseki::dist {
namespace {

ByteVector words(const std::vector<uint16_t>& values) {
  ByteVector bytes(2 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

ByteVector message_of(const std::vector<float>& values) {
  const Tensor tensor = Tensor::from(std::span<const float>(values),
                                     {static_cast<int64_t>(values.size())}, Device::cpu());
  return encode_tensors(std::vector<WireTensor>{{"w", tensor, WireType::f16}});
}

/// Weights, and the same after a step that changes each of them by a share of about `step`.
std::pair<ByteVector, ByteVector> weights_and_next(float step) {
  Random random(7);
  std::vector<float> weights, next;
  for (int i = 0; i < 20'000; ++i) {
    weights.push_back(0.4f * (random.uniform() - 0.5f));
    next.push_back(weights.back() + step * (random.uniform() - 0.5f));
  }
  return {message_of(weights), message_of(next)};
}

}  // namespace

TEST_CASE("a delta gives the message again, bit for bit") {
  std::vector<uint16_t> all;
  for (uint32_t i = 0; i < 0x10000; ++i) all.push_back(static_cast<uint16_t>(i));
  for (const int by : {0, 1, 3, -2}) {
    std::vector<uint16_t> next;
    for (const uint16_t one : all)
      next.push_back(static_cast<uint16_t>(one % 64 == 5 ? one ^ 0x8001 : one + by));
    const ByteVector base = words(all), message = words(next);
    const auto delta = encode_delta(base, message);
    REQUIRE(delta);
    CHECK(apply_delta(base, *delta) == message);
  }
  for (const float step : {0.0f, 1e-4f, 1e-2f}) {
    const auto [base, message] = weights_and_next(step);
    const auto delta = encode_delta(base, message);
    REQUIRE(delta);
    CHECK(apply_delta(base, *delta) == message);
  }
}

TEST_CASE(
    "the delta of a step has less than half of the bytes, and none is made that saves little") {
  const auto [base, message] = weights_and_next(1e-3f);
  CHECK(encode_delta(base, message)->size() < message.size() / 2);
  const auto [first, other] = weights_and_next(10);
  CHECK_FALSE(encode_delta(first, other));
  CHECK_FALSE(encode_delta(base, ByteVector(base.size() + 2)));
  CHECK_FALSE(encode_delta({}, {}));
}

TEST_CASE("a damaged delta is refused") {
  const auto [base, message] = weights_and_next(1e-3f);
  ByteVector delta = *encode_delta(base, message);
  ByteVector more = delta;
  more.push_back(std::byte{1});
  CHECK_THROWS_AS(apply_delta(base, more), ParseError);
  more.back() = std::byte{0};
  CHECK_THROWS_AS(apply_delta(base, more), ParseError);
  CHECK_THROWS_AS(apply_delta(base, ByteView(delta).subspan(0, delta.size() - 1)), ParseError);
  CHECK_THROWS_AS(apply_delta(base, {}), ParseError);
  CHECK_THROWS_AS(apply_delta(ByteView(base).subspan(1), delta), ParseError);
  delta[0] = std::byte{'X'};
  CHECK_THROWS_AS(apply_delta(base, delta), ParseError);
}

}  // namespace kaiseki::dist
