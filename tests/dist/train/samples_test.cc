// SPDX-License-Identifier: MIT
#include "dist/train/samples.h"

#include <doctest/doctest.h>

#include <numeric>

#include "base/base64.h"
#include "base/error.h"
#include "base/sha256.h"
#include "dist/train/file_samples.h"
#include "matrix/random.h"
#include "nn/data/dataset.h"
#include "nn/data/picture.h"
#include "tests/dist/train/scenes.h"
#include "tests/support/encode_picture.h"
#include "tests/support/read_batch.h"

namespace kaiseki::dist {
namespace {

// tests/nn/data/jpeg/half_color.jpg: 31 x 9 pixels, color at half the resolution.
constexpr const char* kHalfColor =
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYF"
    "BgYGBwkIBgcJBwYGCAsICQoKCgoKBggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoK"
    "CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgr/wAARCAAJAB8DASIA"
    "AhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAACAAH/8QAKBAAAAQEAgsAAAAAAAAAAAAAAAEDBwIG"
    "QVE0cQQREyEiIyQyM3KB/8QAFQEBAQAAAAAAAAAAAAAAAAAABwj/xAAdEQACAgEFAAAAAAAAAAAA"
    "AAAAAgEGAwQTFCQx/9oADAMBAAIRAxEAPwDaXXbI9ipqQodATnobLiV5F6B/Oxh1cjBNebvVzMTL"
    "gduUUJop60Apm1suqiI9HrYUrNkZKb0KWGmTZiovYxSr5vgeKi7bUB1am9P/2Q==";

ByteView view(const std::vector<uint8_t>& bytes) {
  return as_bytes(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::vector<uint8_t> values(const Tensor& images) { return images.to_vector<uint8_t>(); }

Tensor random_images(const Shape& shape) {
  std::vector<uint8_t> bytes(static_cast<size_t>(shape.elements()));
  Random random(4);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.below(256));
  return Tensor::from(std::span<const uint8_t>(bytes), shape, Device::cpu());
}

nn::Batch scenes(int64_t count, int side) {
  const test::Scenes data(side, count);
  std::vector<int64_t> indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), int64_t{0});
  nn::Batch batch = test::read_batch(data, indices);
  Random unused(0);
  for (const int64_t i : indices) batch.files.push_back(*data.file(i, unused));
  return batch;
}

FileSamples as_tensors(const std::vector<nn::SampleFile>& files, const Shape& images) {
  FileSamples samples;
  for (const WireTensor& one : wire_tensors(files, images)) {
    if (one.name == "files") samples.bytes = one.value;
    if (one.name == "sizes") samples.sizes = one.value;
    if (one.name == "places") samples.places = one.value;
    if (one.name == "shape") samples.shape = one.value;
  }
  return samples;
}

/// Tensors of `count` copies of a file that are samples of height x width.
FileSamples copies(const ByteVector& file, int64_t count, int64_t height, int64_t width) {
  const std::vector<nn::SampleFile> files(static_cast<size_t>(count), {file, {{height, width}}});
  return as_tensors(files, {count, 3, height, width});
}

ByteVector small_jpeg() { return test::encode_jpeg({8, 8, 3, std::vector<uint8_t>(192)}, 90); }

}  // namespace

TEST_CASE("images arrive as the bytes of the data set, with its mean and std") {
  const nn::Normalization imagenet{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
  for (const nn::Normalization& how : {nn::Normalization{}, imagenet})
    for (const Shape& shape : {Shape{20, 3, 6, 5}, Shape{3, 3}}) {
      const Tensor images = random_images(shape);
      const ByteVector blob = pack_samples({images, how});
      CHECK(static_cast<int64_t>(blob.size()) < images.size() + 200);
      const Samples found = unpack_samples(blob);
      CHECK(found.normalization == how);
      CHECK(found.images.shape() == shape);
      CHECK(values(found.images) == values(images));
    }
  CHECK_THROWS_WITH_AS(pack_samples({random_images({2, 3, 4}), {{1, 2}, {}}}),
                       doctest::Contains("expected a mean"), Error);
}

TEST_CASE("a mean image arrives with the samples") {
  nn::Normalization how;
  for (int i = 0; i < 90; ++i) how.mean.push_back(static_cast<float>(i) / 90);
  const Samples found = unpack_samples(pack_samples({random_images({2, 3, 6, 5}), how}));
  CHECK(found.normalization == how);
  how.mean.pop_back();
  CHECK_THROWS_WITH_AS(pack_samples({random_images({2, 3, 6, 5}), how}),
                       doctest::Contains("a mean image of shape [3, 6, 5], got 89"), Error);
}

TEST_CASE("the built-in digits are sent as bytes") {
  const auto data = nn::open_dataset({.spec = "digits:8"});
  const std::vector<int64_t> indices = {0, 1, 2, 3, 4, 5, 6, 7};
  const nn::Batch batch = test::read_batch(*data, indices);
  const ByteVector blob = pack_samples({batch.images, batch.normalization});
  CHECK(blob.size() < 8 * 784 + 100);
  CHECK(values(unpack_samples(blob).images) == values(batch.images));
}

TEST_CASE("a JPEG is sent as it is stored: it is not decoded and encoded again") {
  const nn::Batch batch = scenes(5, 65);
  const nn::Normalization how{{0.5f}, {0.25f}};
  const ByteVector exact = pack_samples({batch.images, how});
  const ByteVector blob = pack_samples({batch.images, how}, batch.files);
  CHECK(blob.size() < exact.size() / 2);
  CHECK(values(unpack_samples(exact).images) == values(batch.images));
  ByteVector stored;
  for (const nn::SampleFile& file : batch.files)
    stored.insert(stored.end(), file.bytes.begin(), file.bytes.end());
  for (const auto& [name, value] : decode_tensors(blob, "samples").tensors)
    if (name == "files") {
      const std::vector<uint8_t> sent = value.to_vector<uint8_t>();
      CHECK(ByteVector(view(sent).begin(), view(sent).end()) == stored);
    }
  const Samples found = unpack_samples(blob);
  CHECK(found.normalization == how);
  REQUIRE(found.images.shape() == batch.images.shape());
  CHECK(values(found.images) != values(batch.images));
  for (size_t i = 0; i < batch.files.size(); ++i) {
    std::vector<uint8_t> cut(3 * 65 * 65);
    const nn::SampleFile& file = batch.files[i];
    nn::cut_sample(nn::decode_picture_portable(file.bytes, "x", 3, false), file.place, 65, 65,
                   cut.data());
    CHECK(values(found.images.slice(0, static_cast<int64_t>(i), 1).contiguous()) == cut);
  }
}

TEST_CASE("a PNG and its place give the bytes of the data set") {
  nn::Picture picture{20, 30, 3, std::vector<uint8_t>(1800, 77)};
  for (size_t i = 0; i < picture.pixels.size(); i += 31) picture.pixels[i] = 200;
  nn::Preprocessing how{.channels = 3, .height = 24, .width = 24, .resize = 26, .flip = true};
  how.random_crop = true;
  const ByteVector png = test::encode_png(picture);
  Tensor images({6, 3, 24, 24}, DType::u8, Device::cpu());
  std::vector<nn::SampleFile> files;
  for (uint64_t i = 0; i < 6; ++i) {
    Random one(i), other(i);
    nn::prepare_sample(picture, how, &one, images.overwrite<uint8_t>() + i * 1728);
    files.push_back({png, nn::place_sample({20, 30}, how, &other)});
  }
  const ByteVector blob = pack_samples({images, {}}, files);
  CHECK(static_cast<int64_t>(blob.size()) < images.size());
  CHECK(values(unpack_samples(blob).images) == values(images));
}

TEST_CASE("files that are larger than the images, or that nodes refuse, are not sent") {
  const nn::Batch batch = scenes(2, 64);
  auto sent = [&](const std::vector<nn::SampleFile>& files) {
    return pack_samples({batch.images, {}}, files) != pack_samples({batch.images, {}});
  };
  std::vector<nn::SampleFile> files = batch.files;
  CHECK(sent(files));
  CHECK_FALSE(sent({}));
  files[0].bytes.resize(static_cast<size_t>(batch.images.size()));
  CHECK_FALSE(sent(files));
  files = batch.files;
  files[1].place.left = int64_t{1} << 31;
  CHECK_FALSE(sent(files));
  files[1] = {test::encode_jpeg({1025, 512, 1, std::vector<uint8_t>(1025 * 512)}, 1), {{64, 64}}};
  CHECK_FALSE(sent(files));
}

TEST_CASE("a JPEG is decoded to the same pixels on every machine") {
  const ByteVector file = decode_base64(kHalfColor, "half_color");
  const Tensor images = decode_files(copies(file, 2, 9, 31));
  CHECK(images.shape() == Shape{2, 3, 9, 31});
  CHECK(sha256(view(values(images))) ==
        "a631a6af1b94c3efaed6c7d03b4c8f09c3d2ab670044dee64ac393fc70efa0a7");
}

TEST_CASE("damaged files, sizes, places and shapes are refused") {
  const ByteVector file = small_jpeg();
  const FileSamples good = copies(file, 2, 8, 8);
  CHECK_NOTHROW(decode_files(good));
  auto with = [&](Tensor FileSamples::*member, size_t at, int32_t value) {
    FileSamples bad = good;
    Tensor changed = (good.*member).clone();
    changed.mutable_data<int32_t>()[at] = value;
    bad.*member = changed;
    return bad;
  };
  for (const int32_t size : {-1, 0, 3, 1 << 30})
    CHECK_THROWS_AS(decode_files(with(&FileSamples::sizes, 0, size)), ParseError);
  for (const size_t at : {0, 1, 6})
    CHECK_THROWS_AS(decode_files(with(&FileSamples::places, at, 0)), ParseError);
  CHECK_THROWS_AS(decode_files(with(&FileSamples::places, 2, INT32_MIN)), ParseError);
  for (const int32_t value : {-1, 0, 2, 1 << 20})
    for (const size_t at : {0, 1, 2}) {
      if (at && value == 2) continue;
      CHECK_THROWS_AS(decode_files(with(&FileSamples::shape, at, value)), ParseError);
    }
  FileSamples bad = good;
  bad.places = good.places.slice(0, 0, 1).contiguous();
  CHECK_THROWS_WITH_AS(decode_files(bad), doctest::Contains("six values"), ParseError);
  CHECK_THROWS_WITH_AS(decode_files(copies(file, 0, 8, 8)), doctest::Contains("one or more files"),
                       ParseError);
  CHECK_THROWS_AS(decode_files(copies(ByteVector(file.begin(), file.end() - 9), 1, 8, 8)),
                  ParseError);
  ByteVector random(500);
  Random draw(1);
  for (std::byte& byte : random) byte = static_cast<std::byte>(draw.below(256));
  CHECK_THROWS_AS(decode_files(copies(random, 1, 8, 8)), ParseError);
  CHECK_THROWS_AS(
      unpack_samples(encode_tensors(std::vector<WireTensor>{{"files", good.bytes, WireType::u8}})),
      ParseError);
}

TEST_CASE("files that would need too much memory are refused before they are decoded") {
  const ByteVector file = small_jpeg();
  CHECK_THROWS_WITH_AS(decode_files(copies(file, 2000, 255, 255)),
                       doctest::Contains("at most 2^28 values"), ParseError);
  CHECK_THROWS_WITH_AS(decode_files(copies(file, 2, 8, 8), 1000),
                       doctest::Contains("fit into the ticket's memory"), ParseError);
  CHECK_THROWS_WITH_AS(unpack_samples(pack_samples({random_images({2, 3, 8, 8}), {}}), 1000),
                       doctest::Contains("fit into the ticket's memory"), ParseError);
  ByteVector large = test::encode_jpeg({1025, 512, 1, std::vector<uint8_t>(1025 * 512)}, 1);
  large.pop_back();  // invalid, but it is refused for its size first
  CHECK_THROWS_WITH_AS(decode_files(copies(large, 1, 8, 8)), doctest::Contains("2^19 pixels"),
                       ParseError);
}

TEST_CASE("other blobs are refused") {
  for (const std::vector<float>& std : {std::vector<float>{1, 2}, {0}})
    CHECK_THROWS_AS(unpack_samples(encode_tensors(std::vector<WireTensor>{
                        {"samples", random_images({2, 3, 4}), WireType::u8},
                        {"std", Tensor::from(std::span<const float>(std),
                                             {static_cast<int64_t>(std.size())}, Device::cpu())}})),
                    ParseError);
  CHECK_THROWS_AS(unpack_samples(encode_tensors(std::vector<WireTensor>{
                      {"samples", Tensor::zeros({2, 3}, DType::f32, Device::cpu())}})),
                  ParseError);
  CHECK_THROWS_AS(unpack_samples(encode_tensors({})), ParseError);
  CHECK_THROWS_AS(unpack_samples(ByteVector(40)), ParseError);
}

}  // namespace kaiseki::dist
