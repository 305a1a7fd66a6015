// SPDX-License-Identifier: MIT
#include "dist/wire/tensors.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "dist/wire/half.h"
#include "matrix/random.h"

namespace kaiseki::dist {
namespace {

Tensor floats(const std::vector<float>& values) {
  return Tensor::from(std::span<const float>(values), {static_cast<int64_t>(values.size())},
                      Device::cpu());
}

/// The value of a half by the definition of binary16.
double value_of(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const double size =
      exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
  return half & 0x8000 ? -size : size;
}

std::vector<float> sent(const std::vector<float>& values, WireType type) {
  const ByteVector bytes = encode_tensors(std::vector<WireTensor>{{"x", floats(values), type}});
  return decode_tensors(bytes).tensors.at(0).value.to_vector();
}

ByteVector example() {
  const std::vector<int32_t> labels = {3, -1, 7};
  const std::vector<uint8_t> pixels = {0, 255, 9, 1, 2, 3};
  return encode_tensors(
      std::vector<WireTensor>{
          {"w", Tensor::from({1, -2, 3.5f, 0, 5, 6}, {2, 3}, Device::cpu())},
          {"h", floats({0.25f, -1, 8}), WireType::f16},
          {"q", floats({1, -1, 0.5f}), WireType::i8},
          {"labels", Tensor::from(std::span<const int32_t>(labels), {3}, Device::cpu()),
           WireType::i32},
          {"pixels", Tensor::from(std::span<const uint8_t>(pixels), {1, 2, 3}, Device::cpu()),
           WireType::u8}},
      {{"a", "first"}, {"b", ""}});
}

}  // namespace

TEST_CASE("halves round to nearest, ties to even, and stop at 65504") {
  int64_t wrong = 0;
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const auto h = static_cast<uint16_t>(half);
    if (!is_finite_half(h)) continue;
    wrong += static_cast<double>(from_half(h)) != value_of(h);
    wrong += to_half(from_half(h)) != h;
    if ((h & 0x7fff) == 0x7bff) continue;
    const double low = value_of(h), high = value_of(static_cast<uint16_t>(h + 1));
    const double middle = (low + high) / 2;
    const auto even = static_cast<uint16_t>(h % 2 ? h + 1 : h);
    wrong += to_half(static_cast<float>(middle)) != even;
    wrong += to_half(static_cast<float>(low + (middle - low) * 0.99)) != h;
    wrong += to_half(static_cast<float>(middle + (high - middle) * 0.01)) != h + 1;
  }
  CHECK(wrong == 0);
  CHECK(from_half(to_half(65519.0f)) == 65504);
  CHECK(from_half(to_half(1e30f)) == 65504);
  CHECK(from_half(to_half(-1e30f)) == -65504);
}

TEST_CASE("tensors: names, texts, shapes, types and exact values survive a round trip") {
  const TensorMessage message = decode_tensors(example());
  CHECK(message.texts == Metadata{{"a", "first"}, {"b", ""}});
  REQUIRE(message.tensors.size() == 5);
  CHECK(message.tensors[0].name == "w");
  CHECK(message.tensors[0].value.shape() == Shape{2, 3});
  CHECK(message.tensors[0].value.to_vector() == std::vector<float>{1, -2, 3.5f, 0, 5, 6});
  CHECK(message.tensors[1].value.to_vector() == std::vector<float>{0.25f, -1, 8});
  CHECK(message.tensors[3].value.to_vector<int32_t>() == std::vector<int32_t>{3, -1, 7});
  CHECK(message.tensors[4].value.to_vector<uint8_t>() == std::vector<uint8_t>{0, 255, 9, 1, 2, 3});
  CHECK(decode_tensors(encode_tensors({})).tensors.empty());
  CHECK(example() == example());
}

TEST_CASE("f32 is exact; f16 keeps 11 bits from the largest value down, whatever its size") {
  for (float scale : {1e-38f, 1e-20f, 1e-6f, 1.0f, 3e4f, 1e9f, 3e38f}) {
    std::vector<float> values;
    Random random(3);
    for (int i = 0; i < 1000; ++i) values.push_back(scale * (2 * random.uniform() - 1));
    CHECK(sent(values, WireType::f32) == values);
    const std::vector<float> halves = sent(values, WireType::f16);
    int64_t wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double error = std::fabs(static_cast<double>(halves[i]) - values[i]);
      wrong += error > std::fabs(values[i]) * 0x1p-11 + scale * 0x1p-38;
    }
    CHECK(wrong == 0);
  }
  CHECK(sent({0, 0}, WireType::f16) == std::vector<float>{0, 0});
}

TEST_CASE("i8 is off by less than a step, and right on average") {
  std::vector<float> values;
  Random random(5);
  for (int i = 0; i < 1000; ++i) values.push_back(random.normal());
  std::vector<double> sum(values.size());
  constexpr int kTimes = 400;
  int64_t wrong = 0;
  for (uint64_t seed = 0; seed < kTimes; ++seed) {
    const std::vector<float> found =
        decode_tensors(
            encode_tensors(std::vector<WireTensor>{{"x", floats(values), WireType::i8}}, {}, seed))
            .tensors[0]
            .value.to_vector();
    for (size_t i = 0; i < values.size(); ++i) {
      wrong += std::fabs(found[i] - values[i]) > 5.0f / 127;
      sum[i] += static_cast<double>(found[i]);
    }
  }
  CHECK(wrong == 0);
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst, std::fabs(sum[i] / kTimes - static_cast<double>(values[i])));
  CHECK(worst < 0.006);  // a step is 0.03, its deviation over 400 draws below 0.0008
}

TEST_CASE("bytes are two, four, or one and a scale for each 256 elements") {
  CHECK(wire_bytes(1000, WireType::f32) == 4000);
  CHECK(wire_bytes(1000, WireType::f16) == 2000);
  CHECK(wire_bytes(1000, WireType::i8) == 1016);
  CHECK(encode_tensors(
            std::vector<WireTensor>{{"x", floats(std::vector<float>(1000)), WireType::f16}})
            .size() == 16 + 24 + 2000);
}

TEST_CASE("values that are not finite are not encoded") {
  for (float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (WireType type : {WireType::f32, WireType::f16, WireType::i8})
      CHECK_THROWS_WITH_AS(sent({1, bad}, type), doctest::Contains("expected finite numbers in x"),
                           Error);
}

TEST_CASE("a truncated or changed message is refused or still well formed") {
  const ByteVector good = example();
  for (size_t size = 0; size < good.size(); ++size)
    CHECK_THROWS_AS(decode_tensors(ByteView(good).first(size)), ParseError);
  ByteVector longer = good;
  longer.resize(good.size() + 8);
  CHECK_THROWS_AS(decode_tensors(longer), ParseError);
  int refused = 0;
  for (size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      ByteVector changed = good;
      changed[i] ^= static_cast<std::byte>(1 << bit);
      try {
        for (const auto& [name, value] : decode_tensors(changed).tensors)
          if (value.dtype() == DType::f32)
            for (float x : value.to_vector()) CHECK(std::isfinite(x));
      } catch (const ParseError&) {
        ++refused;
      }
    }
  CHECK(refused > 500);
}

TEST_CASE("lengths and shapes beyond the message are refused before memory is allocated") {
  ByteVector bytes = encode_tensors(std::vector<WireTensor>{{"x", floats({1, 2})}});
  const size_t dim = 16 + 8;
  for (uint64_t hostile : {uint64_t{1} << 63, uint64_t{1} << 40, ~uint64_t{0}, uint64_t{0}}) {
    ByteVector changed = bytes;
    store_le(hostile, &changed[dim]);
    CHECK_THROWS_AS(decode_tensors(changed), ParseError);
  }
  for (size_t at : {4, 8, 12}) {
    ByteVector changed = bytes;
    store_le(~uint32_t{0}, &changed[at]);
    CHECK_THROWS_AS(decode_tensors(changed), ParseError);
  }
  std::vector<WireTensor> twice = {{"x", floats({1})}, {"x", floats({2})}};
  CHECK_THROWS_AS(decode_tensors(encode_tensors(twice)), ParseError);
}

}  // namespace kaiseki::dist
