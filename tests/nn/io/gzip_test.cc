// SPDX-License-Identifier: MIT
#include "nn/io/gzip.h"

#include "nn/network.h"
#include "nn/weights.h"
#include "tests/nn/io/damage.h"

using namespace kaiseki;
using namespace kaiseki::nn;

namespace {

ByteVector sample(size_t bytes) {
  ByteVector result(bytes);
  for (size_t i = 0; i < bytes; ++i) result[i] = static_cast<std::byte>(i % 251 * (i >> 9));
  return result;
}

void unpack(ByteView packed) { gunzip(packed, 1 << 20); }

}  // namespace

TEST_CASE("gzip: decompresses what it compressed, with several members") {
  ByteVector plain = sample(300'000);
  ByteVector packed = gzip(plain);
  CHECK(packed.size() < plain.size() / 2);
  CHECK(gunzip(packed, plain.size()) == plain);
  ByteVector two = packed;
  ByteVector more = gzip(sample(10));
  two.insert(two.end(), more.begin(), more.end());
  two.resize(two.size() + 512);
  CHECK(gunzip(two, 1 << 20).size() == 300'010);
  CHECK(gunzip(gzip({}), 0).empty());
}

TEST_CASE("gzip: reads streams of other programs") {
  const char stream[] =
      "\x1f\x8b\x08\x08\x00\x00\x00\x00\x02\x03x\x00\xcbH\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05"
      "\x00\x00\x00";
  CHECK(gunzip(as_bytes({stream, sizeof stream - 1}), 100) == test::bytes_from("hello"));
}

TEST_CASE("gzip: a damaged, truncated or too large stream throws ParseError") {
  ByteVector packed = gzip(sample(3000));
  test::check_truncated(unpack, packed);
  test::check_changed(unpack, packed, 2000);
  ByteVector wrong_sum = packed;
  wrong_sum[packed.size() - 6] ^= std::byte{1};
  CHECK(test::refuses(unpack, wrong_sum, "damaged data"));
  ByteVector trailing = packed;
  trailing.push_back(std::byte{'x'});
  CHECK(test::refuses(unpack, trailing, "bytes follow"));
  ByteVector bomb = gzip(ByteVector(64 << 20));
  CHECK(test::refuses([](ByteView b) { gunzip(b, 100'000); }, bomb, "more than 100000 unpacked"));
}

TEST_CASE("gzip: contents that are much larger than the file are refused") {
  constexpr uint64_t kNoLimit = uint64_t{1} << 40;
  const ByteVector zeros(65 << 20);
  const std::string text = test::parse_error([&] { gunzip(gzip(zeros), kNoLimit); });
  CHECK(text.find("more than 67108864 unpacked bytes") != std::string::npos);
  CHECK(gunzip(gzip(ByteView(zeros).first(64 << 20)), kNoLimit).size() == 64 << 20);
  ByteVector noise(4 << 20);
  uint64_t state = 1;
  for (std::byte& one : noise) {
    state = state * 6364136223846793005 + 1;
    one = static_cast<std::byte>(state >> 56);
  }
  ByteVector packed = gzip(noise);
  const ByteVector more = gzip(zeros);
  packed.insert(packed.end(), more.begin(), more.end());
  CHECK(gunzip(packed, kNoLimit).size() == noise.size() + zeros.size());
}

TEST_CASE("gzip: maybe_gzip() returns plain bytes unchanged") {
  ByteVector plain = sample(1000), packed = gzip(plain);
  CHECK(maybe_gzip(std::make_unique<MemorySource>(plain), 5)->read_all(1000) == plain);
  CHECK(maybe_gzip(std::make_unique<MemorySource>(packed), 1000)->read_all(1000) == plain);
  CHECK(maybe_gzip(std::make_unique<MemorySource>(ByteView()), 5)->read_all(1000).empty());
  CHECK(*maybe_gzip(std::make_unique<MemorySource>(plain), 5)->remaining() == 1000);
}

TEST_CASE("gzip: packed or damaged bytes of another format are refused as weights") {
  Network network = Network::parse(
      R"([{"type": "fc", "name": "f", "params": {"input_size": 3, "output_size": 2}}])", "test",
      Device::cpu());
  const std::string garbage(600, 'x');
  ByteVector packed = gzip(as_bytes(garbage));
  const doctest::Contains expected("expected weights as safetensors, JSON, ONNX, tar or tar.gz");
  CHECK_THROWS_WITH_AS(load_weights(packed, network), expected, ParseError);
  packed[12] = std::byte{0xff};
  CHECK_THROWS_WITH_AS(load_weights(packed, network), expected, ParseError);
}
