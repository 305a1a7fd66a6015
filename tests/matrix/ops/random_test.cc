// SPDX-License-Identifier: MIT
#include "matrix/ops/random.h"

#include <cmath>

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("random: the words of the stream, from any position, on every device") {
  for_each_device([](Device device) {
    for (int64_t n : {0, 1, 3, 4, 17, 1000, 20011})
      for (uint64_t position : {uint64_t{0}, uint64_t{5}, (uint64_t{1} << 34) - 3}) {
        INFO(n << " numbers from word " << position);
        Random ours(0x123456789abcdef, 77), words = ours;
        ours.seek(position);
        words.seek(position);
        Tensor x({n}, DType::f32, device);
        random_uniform(x, ours, -2, 3);
        Doubles expected;
        for (int64_t i = 0; i < n; ++i) expected.push_back(-2 + 5.0 * words.uniform());
        check_close(x, expected, 1e-6, 3e-7);
        CHECK(ours.position() == words.position());

        random_normal(x, ours, 1, 2);
        expected.clear();
        for (int64_t i = 0; i < n; ++i) expected.push_back(1 + 2.0 * words.normal());
        // In float, log and cos of the two words are accurate to about 1e-6 of the deviation.
        check_close(x, expected, 1e-6, device.is_cpu() ? 3e-7 : 1e-5);
        CHECK(ours.position() == words.position());

        random_bernoulli(x, ours, 0.3f, 1.25f);
        expected.clear();
        for (int64_t i = 0; i < n; ++i) expected.push_back(words.uniform() < 0.3f ? 1.25 : 0);
        check_close(x, expected, 0);
        CHECK(ours.position() == words.position());
      }
  });
}

TEST_CASE("random: moments of a million numbers, and the bounds of the range") {
  for_each_device([](Device device) {
    Random random(3);
    Tensor x({1000000}, DType::f32, device);
    auto moments = [&] {
      double sum = 0, squares = 0;
      for (double v : doubles(x)) {
        sum += v;
        squares += v * v;
      }
      return std::pair(sum / 1e6, squares / 1e6 - sum * sum / 1e12);
    };
    // Five standard errors of each estimate.
    random_normal(x, random);
    auto [mean, variance] = moments();
    CHECK(std::abs(mean) < 5e-3);
    CHECK(std::abs(variance - 1) < 7e-3);
    random_uniform(x, random);
    auto [middle, spread] = moments();
    CHECK(std::abs(middle - 0.5) < 1.5e-3);
    CHECK(std::abs(spread - 1.0 / 12) < 4e-4);
    random_uniform(x, random, 1, std::nextafter(1.0f, 2.0f));
    for (double v : doubles(x)) REQUIRE(v == 1);
    random_bernoulli(x, random, 1);
    for (double v : doubles(x)) REQUIRE(v == 1);
    random_bernoulli(x, random, 0);
    for (double v : doubles(x)) REQUIRE(v == 0);
  });
}

TEST_CASE("random: the number of threads changes nothing; bad arguments are errors") {
  auto run = [] {
    Random random(9);
    Tensor x({100003});
    random_normal(x, random);
    return x.to_vector();
  };
  set_thread_count(1);
  auto one = run();
  set_thread_count(3);
  CHECK(run() == one);
  set_thread_count(0);
  Random random(1);
  Tensor x({4}), integers({4}, DType::i32);
  CHECK_THROWS_AS(random_uniform(x, random, 2, 1), ShapeError);
  CHECK_THROWS_AS(random_normal(x, random, 0, -1), ShapeError);
  CHECK_THROWS_AS(random_bernoulli(x, random, 1.5f), ShapeError);
  CHECK_THROWS_AS(random_uniform(integers, random), ShapeError);
}
