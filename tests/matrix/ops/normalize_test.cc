// SPDX-License-Identifier: MIT
#include "matrix/ops/normalize.h"

#include <vector>

#include "base/error.h"
#include "matrix/random.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

using Floats = std::vector<float>;

struct NormalizeCase {
  Floats mean, std;
  float mean_of(int64_t c) const { return of(mean, c, 0); }
  float std_of(int64_t c) const { return of(std, c, 1); }

 private:
  static float of(const Floats& values, int64_t c, float otherwise) {
    if (values.empty()) return otherwise;
    return values[values.size() == 1 ? 0 : static_cast<size_t>(c)];
  }
};

std::vector<NormalizeCase> cases(int64_t channels) {
  Floats mean, std;
  for (int64_t c = 0; c < channels; ++c) {
    mean.push_back(0.4f + 0.01f * static_cast<float>(c));
    std.push_back(0.2f + 0.03f * static_cast<float>(c));
  }
  return {{}, {{0.485f}, {}}, {{}, {0.229f}}, {mean, std}, {{0.5f}, std}};
}

std::vector<uint8_t> bytes_of(const Shape& shape) {
  std::vector<uint8_t> bytes(static_cast<size_t>(shape.elements()));
  Random random(5);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.below(256));
  return bytes;
}

const Shape kShapes[] = {{5},          {1, 1},         {0, 3, 4},      {2, 0, 5},    {3, 1, 7},
                         {2, 3, 17},   {1, 256},       {5, 2, 1},      {1, 3, 0, 2}, {2, 3, 1, 1},
                         {7, 1, 3, 9}, {3, 5, 11, 13}, {2, 3, 31, 33}, {1, 1, 1000}};

}  // namespace

TEST_CASE("normalize: (byte / 255 - mean) / std of odd shapes, with the same bits everywhere") {
  for_each_device([](Device device) {
    for (const Shape& shape : kShapes) {
      INFO(shape.str());
      const std::vector<uint8_t> bytes = bytes_of(shape);
      const Tensor x = Tensor::from(std::span<const uint8_t>(bytes), shape, device);
      const int64_t channels = shape.rank() > 1 ? shape[1] : 1;
      const int64_t inner = shape.elements() / std::max<int64_t>(1, shape[0] * channels);
      for (const NormalizeCase& how : cases(channels)) {
        const Tensor y = normalize(x, how.mean, how.std);
        REQUIRE(y.shape() == shape);
        CHECK(y.device() == device);
        Doubles exact;
        Floats same;
        for (size_t i = 0; i < bytes.size(); ++i) {
          const int64_t c = static_cast<int64_t>(i) / inner % channels;
          exact.push_back((bytes[i] / 255.0 - double{how.mean_of(c)}) / double{how.std_of(c)});
          same.push_back((static_cast<float>(bytes[i]) / 255.0f - how.mean_of(c)) / how.std_of(c));
        }
        check_close(y, exact, 1e-6, 1e-6);
        CHECK(y.to_vector() == same);
      }
    }
  });
}

TEST_CASE("normalize: subtracts a mean image, with the same bits everywhere") {
  for_each_device([](Device device) {
    for (const Shape& shape : {Shape{4, 3, 5}, Shape{2, 1, 7, 9}, Shape{3, 3, 11, 13}, Shape{2, 6},
                               Shape{0, 3, 4}, Shape{1, 2, 1, 33}}) {
      INFO(shape.str());
      const std::vector<uint8_t> bytes = bytes_of(shape);
      const auto values = static_cast<size_t>(shape.elements() / std::max<int64_t>(1, shape[0]));
      const size_t size = shape[0] ? values : 12, inner = size / static_cast<size_t>(shape[1]);
      Floats image(size), stds;
      Random random(9);
      for (float& value : image) value = random.uniform();
      for (int64_t c = 0; c < shape[1]; ++c) stds.push_back(0.2f + 0.1f * static_cast<float>(c));
      const Tensor x = Tensor::from(std::span<const uint8_t>(bytes), shape, device);
      for (const Floats& std : {Floats{}, Floats{0.25f}, stds}) {
        const Tensor y = normalize(x, image, std);
        REQUIRE(y.shape() == shape);
        CHECK(y.device() == device);
        Doubles exact;
        Floats same;
        for (size_t i = 0; i < bytes.size(); ++i) {
          const float scale = std.empty() ? 1 : std[std.size() == 1 ? 0 : i % size / inner];
          exact.push_back((bytes[i] / 255.0 - double{image[i % size]}) / double{scale});
          same.push_back((static_cast<float>(bytes[i]) / 255.0f - image[i % size]) * (1 / scale));
        }
        check_close(y, exact, 1e-6, 1e-6);
        if (shape.rank() > 2) CHECK(y.to_vector() == same);
      }
    }
  });
}

TEST_CASE("normalize: a mean image of equal channels gives what the means give") {
  const std::vector<uint8_t> bytes = bytes_of({3, 2, 4, 5});
  const Tensor x = Tensor::from(std::span<const uint8_t>(bytes), {3, 2, 4, 5}, Device::cpu());
  Floats image(20, 0.3f);
  image.resize(40, 0.6f);
  const Floats std = {0.5f, 0.25f};  // their inverses are exact
  CHECK(normalize(x, image, std).to_vector() == normalize(x, Floats{0.3f, 0.6f}, std).to_vector());
}

TEST_CASE("normalize: reads a view") {
  for_each_device([](Device device) {
    const std::vector<uint8_t> bytes = bytes_of({4, 3, 5});
    const Tensor x = Tensor::from(std::span<const uint8_t>(bytes), {4, 3, 5}, device);
    const Floats mean = {0.1f, 0.2f, 0.3f}, all = normalize(x, mean, {}).to_vector();
    const Tensor part = normalize(x.slice(0, 1, 2), mean, {});
    CHECK(part.to_vector() == Floats(all.begin() + 15, all.begin() + 45));
  });
}

TEST_CASE("normalize: refuses other types, other numbers of channels, and a std of 0") {
  const Tensor x = Tensor::zeros({2, 3, 4}, DType::u8, Device::cpu());
  CHECK_THROWS_WITH_AS(normalize(Tensor::zeros({2, 3}), {}, {}), doctest::Contains("of type u8"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(normalize(Tensor::zeros({}, DType::u8, Device::cpu()), {}, {}),
                       doctest::Contains("[n, channels, ...]"), ShapeError);
  CHECK_THROWS_WITH_AS(normalize(Tensor::zeros({3}, DType::u8, Device::cpu()), Floats{1, 2}, {}),
                       doctest::Contains("each of 1 channels"), ShapeError);
  CHECK_THROWS_WITH_AS(normalize(x, Floats{1, 2}, {}), doctest::Contains("each of 3 channels"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(normalize(x, Floats(11, 0.f), {}),
                       doctest::Contains("mean image of shape [3, 4], got 11 values"), ShapeError);
  CHECK_THROWS_WITH_AS(normalize(x, {}, Floats(12, 1.f)), doctest::Contains("each of 3 channels"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(normalize(x, {}, Floats{0}), doctest::Contains("std above 0"), ShapeError);
}
