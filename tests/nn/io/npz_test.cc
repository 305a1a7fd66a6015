// SPDX-License-Identifier: MIT
#include "nn/io/npz.h"

#include "base/error.h"
#include "base/file.h"
#include "nn/io/deflate.h"
#include "tests/nn/io/damage.h"
#include "tests/support/folder.h"

using namespace kaiseki;
using namespace kaiseki::nn;
using test::refuses;

namespace {

std::vector<NamedTensor> arrays() {
  const int32_t numbers[] = {1, -2, 3};
  return {{"x", Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}, Device::cpu())},
          {"folder/y", Tensor::from(std::span<const int32_t>(numbers), {3}, Device::cpu())},
          {"empty", Tensor({0, 2}, DType::u8, Device::cpu())},
          {"many", Tensor::full({5000}, 0.25f, Device::cpu())}};
}

void parse(ByteView bytes) { read_npz(bytes); }

}  // namespace

TEST_CASE("npz: reads what it writes, stored and deflated") {
  test::Folder folder;
  for (bool compressed : {false, true}) {
    const ByteVector bytes = encode_npz(arrays(), compressed);
    CHECK((bytes.size() < 5000) == compressed);
    write_npz(folder.path / "a.npz", arrays(), compressed);
    CHECK(read_file(folder.path / "a.npz") == bytes);
    const std::vector<NamedTensor> read = read_npz(folder.path / "a.npz");
    REQUIRE(read.size() == 4);
    CHECK(read[0].name == "x");
    CHECK(read[0].value.to_vector() == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(read[1].name == "folder/y");
    CHECK(read[1].value.to_vector<int32_t>() == std::vector<int32_t>{1, -2, 3});
    CHECK(read[2].value.shape() == Shape{0, 2});
    CHECK(read[3].value.to_vector() == std::vector<float>(5000, 0.25f));
  }
  CHECK(read_npz(encode_npz({})).empty());
}

TEST_CASE("npz: an archive of NumPy, which has flags, extra fields and a comment") {
  ByteVector bytes = encode_npz({{"x", Tensor::from({7}, {1}, Device::cpu())}}, true);
  bytes[bytes.size() - 2] = std::byte{2};  // the length of the comment
  for (char c : {'h', 'i'}) bytes.push_back(static_cast<std::byte>(c));
  CHECK(read_npz(bytes)[0].value.item() == 7);
}

TEST_CASE("npz: a damaged archive throws ParseError and allocates little memory") {
  std::vector<NamedTensor> small = arrays();
  small.pop_back();
  for (bool compressed : {false, true}) {
    const ByteVector bytes = encode_npz(small, compressed);
    test::check_truncated(parse, bytes);
    test::check_changed(parse, bytes, 2000);
  }
  ByteVector bytes = encode_npz({{"x", Tensor::from({7}, {1}, Device::cpu())}});
  ByteVector wrong = bytes;
  wrong[40] ^= std::byte{1};
  CHECK(refuses(parse, wrong, "checksum"));
  const size_t directory = bytes.size() - 22 - 46 - 5;
  wrong = bytes;
  wrong[directory + 8] = std::byte{1};
  CHECK(refuses(parse, wrong, "encrypted"));
  wrong = bytes;
  for (size_t i = 24; i < 28; ++i) wrong[directory + i] = std::byte{255};
  CHECK(refuses(parse, wrong, "zip64"));
  wrong = bytes;
  wrong[directory + 10] = std::byte{14};
  CHECK(refuses(parse, wrong, "method 14"));
  CHECK(refuses(parse, {}, "a zip archive"));
}

TEST_CASE("npz: a directory that names one file many times is refused") {
  const ByteVector one = encode_npz({{"x", Tensor::full({1000}, 1.0f, Device::cpu())}});
  const size_t end = one.size() - 22, entry = 46 + 5;  // "x.npy"
  ByteVector bytes(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(end));
  for (int i = 1; i < 1000; ++i)
    bytes.insert(bytes.end(), one.begin() + static_cast<std::ptrdiff_t>(end - entry),
                 one.begin() + static_cast<std::ptrdiff_t>(end));
  bytes.insert(bytes.end(), one.begin() + static_cast<std::ptrdiff_t>(end), one.end());
  bytes[bytes.size() - 12] = std::byte{1000 & 255};
  bytes[bytes.size() - 11] = std::byte{1000 >> 8};
  CHECK(test::parse_error([&] { parse(bytes); }).find("overlap") != std::string::npos);
}

TEST_CASE("npz: names are UTF-8, and say so") {
  const ByteVector bytes = encode_npz({{"größe", Tensor::from({7}, {1}, Device::cpu())}});
  CHECK(read_npz(bytes)[0].name == "größe");
  CHECK(bytes[7] == std::byte{8});  // bit 11 of the flags
}

TEST_CASE("npy, npz: a tensor without storage is an error") {
  CHECK_THROWS_AS(encode_npz({{"x", Tensor()}}), ShapeError);
}

TEST_CASE("npz: wrong names are errors") {
  std::vector<NamedTensor> twice = {{"x", Tensor({1})}, {"x", Tensor({1})}};
  CHECK_THROWS_AS(encode_npz(twice), Error);
  CHECK_THROWS_AS(encode_npz({{"", Tensor({1})}}), Error);
}

TEST_CASE("deflate: the content has exactly the promised size") {
  const ByteVector content(100000, std::byte{3});
  const ByteVector packed = deflate_raw(content);
  CHECK(inflate_raw(packed, content.size(), "test") == content);
  CHECK_THROWS_AS(inflate_raw(packed, content.size() - 1, "test"), ParseError);
  CHECK_THROWS_AS(inflate_raw(packed, content.size() + 1, "test"), ParseError);
  CHECK_THROWS_AS(inflate_raw({}, 0, "test"), ParseError);
  CHECK(inflate_raw(deflate_raw({}), 0, "test").empty());
  CHECK(crc32_of(as_bytes("123456789")) == 0xCBF43926u);  // the check value of CRC-32
}
