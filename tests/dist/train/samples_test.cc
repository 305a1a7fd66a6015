// SPDX-License-Identifier: MIT
#include "dist/train/samples.h"

#include <doctest/doctest.h>

#include "matrix/error.h"
#include "matrix/random.h"
#include "nn/data/dataset.h"
#include "nn/data/iterator.h"
#include "nn/data/picture.h"

namespace kaiseki::dist {

TEST_CASE("pictures travel as bytes and arrive as the same floats") {
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

TEST_CASE("the built-in digits are bytes") {
  const auto data = nn::open_dataset({.spec = "digits:8"});
  const std::vector<int64_t> indices = {0, 1, 2, 3, 4, 5, 6, 7};
  const nn::Batch batch = nn::read_batch(*data, indices);
  const ByteVector blob = pack_samples(batch.images, {});
  CHECK(blob.size() < 8 * 784 + 100);
  CHECK(unpack_samples(blob).to_vector() == batch.images.to_vector());
}

TEST_CASE("what is no byte travels as floats") {
  const Tensor images = Tensor::from({0.1f, 0.5f, -3, 7}, {2, 1, 1, 2}, Device::cpu());
  CHECK(unpack_samples(pack_samples(images, {})).to_vector() == images.to_vector());
  CHECK(unpack_samples(pack_samples(images, {{0.5f}, {0.2f}})).to_vector() == images.to_vector());
  CHECK_THROWS_WITH_AS(pack_samples(images, {{1, 2}, {}}), doctest::Contains("mean and std"),
                       Error);
}

TEST_CASE("other blobs are refused") {
  CHECK_THROWS_AS(unpack_samples(encode_tensors({})), ParseError);
  CHECK_THROWS_AS(unpack_samples(ByteVector(40)), ParseError);
}

}  // namespace kaiseki::dist
