// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "tests/nn/data/pictures.h"

using namespace kaiseki;
using namespace kaiseki::nn;

TEST_CASE("digits: are reproducible, and differ between seeds, parts and indices") {
  auto open = [](const char* spec, bool train) {
    DataOptions options;
    options.spec = spec;
    options.train = train;
    return open_dataset(options);
  };
  auto one = open("digits:200:3", true), again = open("digits:1000:3", true);
  auto other = open("digits:200:4", true), held_out = open("digits:200:3", false);
  CHECK(one->sample_shape() == Shape{1, 28, 28});
  CHECK(one->size() == 200);
  CHECK(held_out->size() == 40);
  CHECK(one->classes() == 10);
  for (int i : {0, 17, 199}) CHECK(test::sample_of(*one, i) == test::sample_of(*again, i));
  CHECK(test::sample_of(*one, 3) != test::sample_of(*other, 3));
  CHECK(test::sample_of(*one, 3) != test::sample_of(*held_out, 3));
  CHECK(test::sample_of(*one, 3) != test::sample_of(*one, 13));
  CHECK(open("digits", true)->size() == 20000);
}

TEST_CASE("digits: are drawn inside the picture, and all classes are equally frequent") {
  DataOptions options;
  options.spec = "digits:500:1";
  auto data = open_dataset(options);
  std::map<int, int> classes;
  for (int i = 0; i < 500; ++i) {
    int32_t label = -1;
    auto sample = test::sample_of(*data, i, &label);
    ++classes[label];
    double ink = 0, border = 0;
    for (int y = 0; y < 28; ++y)
      for (int x = 0; x < 28; ++x) {
        const double value = sample[static_cast<size_t>(y * 28 + x)] / 255.0;
        ink += value;
        if (x == 0 || y == 0 || x == 27 || y == 27) border += value;
      }
    CHECK(ink > 12);
    CHECK(ink < 350);
    CHECK(border < 0.25 * ink);
  }
  for (auto [label, count] : classes) CHECK(count == 50);
}

TEST_CASE("digits: a wrong count throws Error") {
  for (const char* spec : {"digits:", "digits:0", "digits:x", "digits:5:", "digits:-1"}) {
    DataOptions options;
    options.spec = spec;
    CHECK_THROWS(open_dataset(options));
  }
}
