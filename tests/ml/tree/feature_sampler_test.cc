// SPDX-License-Identifier: MIT
#include "ml/tree/feature_sampler.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace kaiseki::ml;

TEST_CASE("TreeRandom: uniform below any bound, and repeatable") {
  TreeRandom random(3, 9), again(3, 9), other(3, 10);
  std::vector<int> counts(7);
  bool differs = false;
  for (int i = 0; i < 7000; ++i) {
    const uint32_t number = random.below(7);
    CHECK(number == again.below(7));
    differs = differs || number != other.below(7);
    ++counts[number];
  }
  CHECK(differs);
  for (const int count : counts) CHECK(std::abs(count - 1000) < 150);
  CHECK(random.below(1) == 0);
}

TEST_CASE("FeatureSampler: draws each feature equally often, and none twice") {
  FeatureSampler sampler(10, 1, 0);
  std::vector<int> counts(10);
  for (int node = 0; node < 5000; ++node) {
    sampler.begin(0);
    const auto drawn = sampler.draw(3);
    REQUIRE(drawn.size() == 3);
    CHECK(std::set<int32_t>(drawn.begin(), drawn.end()).size() == 3);
    for (const int32_t feature : drawn) ++counts[feature];
    sampler.remember_constants([](size_t) { return false; });
  }
  for (const int count : counts) CHECK(std::abs(count - 1500) < 200);
}

TEST_CASE("FeatureSampler: constant features count as drawn, and are not returned again") {
  // Features 0 to 5 are constant.
  FeatureSampler sampler(8, 2, 0);
  sampler.begin(0);
  std::set<int32_t> seen;
  bool varied = false;
  for (auto drawn = sampler.draw(2);; drawn = sampler.draw(1)) {
    for (const int32_t feature : drawn) {
      CHECK(seen.insert(feature).second);
      varied = varied || feature > 5;
    }
    sampler.remember_constants([&](size_t i) { return drawn[i] <= 5; });
    if (varied || !sampler.has_more()) break;
  }
  CHECK(varied);
  const size_t constants = sampler.constants();
  CHECK(constants >= seen.size() - 2);
  size_t empty = 0;
  for (int node = 0; node < 200; ++node) {
    sampler.begin(constants);
    const auto drawn = sampler.draw(1);
    empty += drawn.empty();
    for (const int32_t feature : drawn) CHECK((feature > 5 || seen.count(feature) == 0));
    sampler.remember_constants([](size_t) { return false; });
  }
  CHECK(std::abs(static_cast<double>(empty) / 200 - static_cast<double>(constants) / 8) < 0.12);
}

TEST_CASE("FeatureSampler: a node of constant features has no more to draw") {
  FeatureSampler sampler(5, 3, 0);
  sampler.begin(0);
  sampler.draw(2);
  sampler.remember_constants([](size_t) { return true; });
  size_t more = 0;
  while (sampler.has_more()) {
    more += sampler.draw(1).size();
    sampler.remember_constants([](size_t) { return true; });
  }
  CHECK(more == 3);
  CHECK(sampler.constants() == 5);
}
