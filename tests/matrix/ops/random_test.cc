// SPDX-License-Identifier: MIT
#include "matrix/ops/random.h"

#include <algorithm>
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
        random_uniform_into(x, ours, -2, 3);
        Doubles expected;
        for (int64_t i = 0; i < n; ++i) expected.push_back(-2 + 5.0 * words.uniform());
        check_close(x, expected, 1e-6, 3e-7);
        CHECK(ours.position() == words.position());

        random_normal_into(x, ours, 1, 2);
        expected.clear();
        for (int64_t i = 0; i < n; ++i) expected.push_back(1 + 2.0 * words.normal());
        // In float, log and cos of the two words are accurate to about 1e-6 of the deviation.
        check_close(x, expected, 1e-6, device.is_cpu() ? 3e-7 : 1e-5);
        CHECK(ours.position() == words.position());

        random_bernoulli_into(x, ours, 0.3f, 1.25f);
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
    random_normal_into(x, random);
    auto [mean, variance] = moments();
    CHECK(std::abs(mean) < 5e-3);
    CHECK(std::abs(variance - 1) < 7e-3);
    random_uniform_into(x, random);
    auto [middle, spread] = moments();
    CHECK(std::abs(middle - 0.5) < 1.5e-3);
    CHECK(std::abs(spread - 1.0 / 12) < 4e-4);
    random_uniform_into(x, random, 1, std::nextafter(1.0f, 2.0f));
    for (double v : doubles(x)) REQUIRE(v == 1);
    random_bernoulli_into(x, random, 1);
    for (double v : doubles(x)) REQUIRE(v == 1);
    random_bernoulli_into(x, random, 0);
    for (double v : doubles(x)) REQUIRE(v == 0);
  });
}

TEST_CASE("random: the number of threads changes nothing; bad arguments are errors") {
  auto run = [] {
    Random random(9);
    Tensor x({100003});
    random_normal_into(x, random);
    return x.to_vector();
  };
  set_thread_count(1);
  auto one = run();
  set_thread_count(3);
  CHECK(run() == one);
  set_thread_count(0);
  Random random(1);
  Tensor x({4}), integers({4}, DType::i32);
  CHECK_THROWS_AS(random_uniform_into(x, random, 2, 1), ShapeError);
  CHECK_THROWS_AS(random_normal_into(x, random, 0, -1), ShapeError);
  CHECK_THROWS_AS(random_bernoulli_into(x, random, 1.5f), ShapeError);
  CHECK_THROWS_AS(random_uniform_into(integers, random), ShapeError);
}

TEST_CASE("randi: the words of the stream, on every device") {
  for_each_device([](Device device) {
    for (auto [low, high] :
         {std::pair<int64_t, int64_t>{-3, 4}, {0, 1}, {-2147483648, 2147483647}, {5, 2147483648}})
      for (int64_t n : {0, 1, 7, 1001}) {
        Random ours(11, 2), words = ours;
        ours.seek(6);
        words.seek(6);
        std::vector<int32_t> expected;
        for (int64_t i = 0; i < n; ++i)
          expected.push_back(static_cast<int32_t>(
              low + static_cast<int64_t>(
                        uint64_t{words.next()} * static_cast<uint64_t>(high - low) >> 32)));
        CHECK(randi(low, high, {n}, ours, device).to_vector<int32_t>() == expected);
        CHECK(ours.position() == words.position());
      }
  });
}

TEST_CASE("permutation, shuffle, choice: each number once, the same on every device") {
  std::vector<int32_t> first;
  for_each_device([&](Device device) {
    Random random(4);
    const std::vector<int32_t> order = permutation(1000, random, device).to_vector<int32_t>();
    if (first.empty()) first = order;
    CHECK(order == first);
    std::vector<int32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int32_t i = 0; i < 1000; ++i) REQUIRE(sorted[static_cast<size_t>(i)] == i);
    Tensor x = random_tensor({3, 50}, 1, device);
    Doubles before = doubles(x), after = doubles(shuffle(x, random, 1));
    CHECK(before != after);
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    CHECK(before == after);
    std::vector<int32_t> some = choice(9, 5, random, false, device).to_vector<int32_t>();
    std::sort(some.begin(), some.end());
    CHECK(std::unique(some.begin(), some.end()) == some.end());
    int counts[3] = {};
    const Tensor weights = Tensor::from({1, 0, 3}, {3}, device);
    for (int32_t i : choice(weights, 4000, random).to_vector<int32_t>()) ++counts[i];
    CHECK(counts[1] == 0);
    CHECK(std::abs(counts[0] - 1000) < 140);  // five standard deviations
    const Tensor rare = Tensor::from({0, 1e-9f, 1, 0}, {4}, device);
    for (int32_t i : choice(rare, 2000, random).to_vector<int32_t>()) CHECK((i == 1 || i == 2));
    CHECK(choice(3, 0, random, true, device).shape() == Shape{0});
  });
}

TEST_CASE("randi, choice: bad arguments are errors") {
  Random random(1);
  CHECK_THROWS_AS(randi(3, 3, {2}, random), ShapeError);
  CHECK_THROWS_AS(randi(0, 2147483649, {2}, random), ShapeError);
  CHECK_THROWS_AS(randi(-2147483648, 2147483648, {2}, random), ShapeError);
  CHECK_THROWS_AS(permutation(-1, random), ShapeError);
  CHECK_THROWS_AS(choice(3, 4, random, false), ShapeError);
  CHECK_THROWS_AS(choice(0, 1, random), ShapeError);
  CHECK_THROWS_AS(choice(Tensor::from({1, -1}, {2}), 1, random), ShapeError);
  CHECK_THROWS_AS(choice(Tensor::from({0}, {1}), 1, random), ShapeError);
}
