// SPDX-License-Identifier: MIT
#include "dist/train/samples.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/base64.h"
#include "base/error.h"
#include "base/sha256.h"
#include "dist/train/jpeg_samples.h"
#include "matrix/random.h"
#include "nn/data/dataset.h"
#include "nn/data/iterator.h"
#include "nn/data/picture.h"
#include "tests/dist/train/scenes.h"

namespace kaiseki::dist {
namespace {

// tests/nn/data/jpeg/half_colour.jpg: 31 x 9 pixels, color at half the resolution.
constexpr const char* kHalfColour =
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYF"
    "BgYGBwkIBgcJBwYGCAsICQoKCgoKBggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoK"
    "CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgr/wAARCAAJAB8DASIA"
    "AhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAACAAH/8QAKBAAAAQEAgsAAAAAAAAAAAAAAAEDBwIG"
    "QVE0cQQREyEiIyQyM3KB/8QAFQEBAQAAAAAAAAAAAAAAAAAABwj/xAAdEQACAgEFAAAAAAAAAAAA"
    "AAAAAgEGAwQTFCQx/9oADAMBAAIRAxEAPwDaXXbI9ipqQodATnobLiV5F6B/Oxh1cjBNebvVzMTL"
    "gduUUJop60Apm1suqiI9HrYUrNkZKb0KWGmTZiovYxSr5vgeKi7bUB1am9P/2Q==";

/// Concatenates the files.
JpegSamples files(const std::vector<ByteVector>& all) {
  JpegSamples samples;
  ByteVector bytes;
  std::vector<int32_t> sizes;
  for (const ByteVector& file : all) {
    bytes.insert(bytes.end(), file.begin(), file.end());
    sizes.push_back(static_cast<int32_t>(file.size()));
  }
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  samples.files = Tensor::from(std::span(first, bytes.size()), {static_cast<int64_t>(bytes.size())},
                               Device::cpu());
  samples.sizes = Tensor::from(std::span<const int32_t>(sizes),
                               {static_cast<int64_t>(sizes.size())}, Device::cpu());
  return samples;
}

Tensor scenes(int64_t count, int64_t side) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i) indices.push_back(i);
  return nn::read_batch(test::Scenes(side, count), indices).images;
}

}  // namespace

TEST_CASE("images are sent as bytes, and unpacked as the same floats") {
  for (bool normalised : {false, true}) {
    nn::Preprocessing how{.channels = 3, .height = 6, .width = 5, .padding = 2};
    how.random_crop = how.flip = true;
    if (normalised) {
      how.mean = {0.485f, 0.456f, 0.406f};
      how.std = {0.229f, 0.224f, 0.225f};
    }
    nn::Picture picture{6, 5, 3, std::vector<uint8_t>(90)};
    Random random(4);
    Tensor images({20, 3, 6, 5}, DType::f32, Device::cpu());
    for (int64_t i = 0; i < 20; ++i) {
      for (uint8_t& pixel : picture.pixels) pixel = static_cast<uint8_t>(random.below(256));
      nn::prepare_sample(picture, how, &random, images.overwrite<float>() + i * 90);
    }
    const ByteVector blob = pack_samples(images, {how.mean, how.std});
    CHECK(blob.size() < 20 * 90 + 200);
    const Tensor found = unpack_samples(blob);
    CHECK(found.shape() == images.shape());
    CHECK(found.to_vector() == images.to_vector());
  }
}

TEST_CASE("the built-in digits are packed as bytes") {
  const auto data = nn::open_dataset({.spec = "digits:8"});
  const std::vector<int64_t> indices = {0, 1, 2, 3, 4, 5, 6, 7};
  const nn::Batch batch = nn::read_batch(*data, indices);
  const ByteVector blob = pack_samples(batch.images, {});
  CHECK(blob.size() < 8 * 784 + 100);
  CHECK(unpack_samples(blob).to_vector() == batch.images.to_vector());
}

TEST_CASE("values that are not bytes are sent as floats") {
  const Tensor images = Tensor::from({0.1f, 0.5f, -3, 7}, {2, 1, 1, 2}, Device::cpu());
  CHECK(unpack_samples(pack_samples(images, {})).to_vector() == images.to_vector());
  CHECK(unpack_samples(pack_samples(images, {{0.5f}, {0.2f}})).to_vector() == images.to_vector());
  CHECK_THROWS_WITH_AS(pack_samples(images, {{1, 2}, {}}), doctest::Contains("mean and std"),
                       Error);
}

TEST_CASE("large images are sent as JPEG if allowed, in at most half of the bytes") {
  const Normalisation how{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
  const Tensor plain = scenes(5, 65);
  std::vector<float> normalised = plain.to_vector();
  for (size_t i = 0; i < normalised.size(); ++i) {
    const size_t c = i / (65 * 65) % 3;
    normalised[i] = (normalised[i] - how.mean[c]) / how.std[c];
  }
  const Tensor images =
      Tensor::from(std::span<const float>(normalised), plain.shape(), Device::cpu());
  const ByteVector exact = pack_samples(images, how);
  const ByteVector blob = pack_samples(images, how, true);
  CHECK(unpack_samples(exact).to_vector() == normalised);
  CHECK(blob.size() < exact.size() / 2);
  const Tensor found = unpack_samples(blob);
  REQUIRE(found.shape() == images.shape());
  const std::vector<float> values = found.to_vector();
  CHECK(values != normalised);
  double squares = 0, norm = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    squares += std::pow(values[i] - normalised[i], 2);
    norm += std::pow(normalised[i], 2);
  }
  CHECK(std::sqrt(squares / norm) < 0.15);  // mostly in the color of the noise
}

TEST_CASE("small and gray images are not sent as JPEG") {
  for (const Tensor& images : {scenes(3, 63), scenes(2, 64).slice(1, 0, 1).contiguous()})
    CHECK(pack_samples(images, {}, true) == pack_samples(images, {}));
  CHECK(pack_samples(scenes(3, 64), {}, true) != pack_samples(scenes(3, 64), {}));
}

TEST_CASE("a JPEG is decoded to the same pixels on every machine") {
  const ByteVector file = decode_base64(kHalfColour, "half_colour");
  const Tensor pixels = from_jpeg(files({file, file}));
  CHECK(pixels.shape() == Shape{2, 3, 9, 31});
  const ByteView bytes(reinterpret_cast<const std::byte*>(pixels.data<uint8_t>()),
                       static_cast<size_t>(pixels.size()));
  CHECK(sha256(bytes) == "a631a6af1b94c3efaed6c7d03b4c8f09c3d2ab670044dee64ac393fc70efa0a7");
}

TEST_CASE("damaged files and files of different sizes are refused") {
  const ByteVector small = decode_base64(kHalfColour, "half_colour");
  const ByteVector large = nn::encode_jpeg({8, 8, 3, std::vector<uint8_t>(192)}, 90);
  CHECK_THROWS_WITH_AS(from_jpeg(files({small, large})),
                       doctest::Contains("expected JPEGs of one size"), ParseError);
  const ByteVector png = nn::encode_png({8, 8, 3, std::vector<uint8_t>(192)});
  CHECK_THROWS_WITH_AS(from_jpeg(files({png})), doctest::Contains("expected JPEGs"), ParseError);
  CHECK_THROWS_WITH_AS(from_jpeg(files({})), doctest::Contains("one or more files"), ParseError);
  for (const int32_t size : {-1, 0, 3, 1 << 30}) {
    JpegSamples samples = files({large});
    samples.sizes.overwrite<int32_t>()[0] = size;
    CHECK_THROWS_AS(from_jpeg(samples), ParseError);
  }
  CHECK_THROWS_AS(from_jpeg(files({ByteVector(large.begin(), large.end() - 9)})), ParseError);
  ByteVector header = nn::encode_jpeg({8, 8, 3, std::vector<uint8_t>(192)}, 90);
  for (size_t i = 0; i + 8 < header.size(); ++i)
    if (header[i] == std::byte{0xff} && header[i + 1] == std::byte{0xc0})
      header[i + 6] = header[i + 8] = std::byte{255};  // 255 x 255
  CHECK_THROWS_WITH_AS(from_jpeg(files(std::vector<ByteVector>(2000, header))),
                       doctest::Contains("at most 2^28 values"), ParseError);
  header.pop_back();  // invalid, but it is refused for its size before it is decoded
  CHECK_THROWS_WITH_AS(from_jpeg(files({large, header})),
                       doctest::Contains("expected JPEGs of one size"), ParseError);
  ByteVector random(500);
  Random draw(1);
  for (std::byte& byte : random) byte = static_cast<std::byte>(draw.below(256));
  CHECK_THROWS_AS(from_jpeg(files({random})), ParseError);
  const JpegSamples samples = files({large});
  CHECK_THROWS_AS(unpack_samples(encode_tensors(
                      std::vector<WireTensor>{{"jpeg", samples.files, WireType::u8}})),
                  ParseError);
}

TEST_CASE("other blobs are refused") {
  CHECK_THROWS_AS(unpack_samples(encode_tensors({})), ParseError);
  CHECK_THROWS_AS(unpack_samples(ByteVector(40)), ParseError);
}

}  // namespace kaiseki::dist
