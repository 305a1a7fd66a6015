// SPDX-License-Identifier: MIT
#include "ml/tree/value_keys.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "matrix/random.h"

using namespace kaiseki;
using namespace kaiseki::ml;

namespace {

/// Sorts, and checks the order and that each payload kept its value.
template <class Value>
void check_sort(const std::vector<Value>& values) {
  KeySorter sorter;
  const auto limits = std::minmax_element(values.begin(), values.end());
  const auto keys = sorter.sort(std::span<const Value>(values), *limits.first, *limits.second,
                                [](size_t i) { return static_cast<uint32_t>(i); });
  REQUIRE(keys.size() == values.size());
  std::vector<bool> seen(values.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) REQUIRE(order_of(keys[i - 1]) <= order_of(keys[i]));
    REQUIRE(order_of(keys[i]) == ordered(values[payload_of(keys[i])]));
    REQUIRE(!seen[payload_of(keys[i])]);
    seen[payload_of(keys[i])] = true;
  }
}

}  // namespace

TEST_CASE("value keys: integers have the order of the floats") {
  const float most = std::numeric_limits<float>::max();
  const float values[] = {-most, -1.5f, -1e-42f, 0, 1e-42f, 1e-30f, 1, most};
  for (size_t i = 0; i < std::size(values); ++i) {
    CHECK(float_of(value_key(ordered(values[i]), 7)) == values[i]);
    if (i > 0) CHECK(ordered(values[i - 1]) < ordered(values[i]));
  }
}

TEST_CASE("KeySorter: any distribution, and any number of keys") {
  Random random(1);
  for (const size_t n : {2, 23, 24, 25, 100, 1000, 20000}) {
    CAPTURE(n);
    std::vector<float> uniform(n), normal(n), powers(n), outlier(n), few(n), extreme(n), tiny(n);
    std::vector<uint8_t> codes(n), two(n);
    for (size_t i = 0; i < n; ++i) {
      uniform[i] = random.uniform();
      normal[i] = random.normal();
      powers[i] = std::ldexp(1.0f, static_cast<int>(random.below(250)) - 125) * random.uniform();
      outlier[i] = i == 1 ? 1e30f : random.uniform();
      few[i] = static_cast<float>(random.below(3));
      extreme[i] = (random.uniform() - 0.5f) * 2 * std::numeric_limits<float>::max();
      tiny[i] = static_cast<float>(random.below(5)) * std::numeric_limits<float>::denorm_min();
      codes[i] = static_cast<uint8_t>(random.below(256));
      two[i] = i % 2 ? 200 : 255;
    }
    for (const auto& values : {uniform, normal, powers, outlier, few, extreme, tiny})
      if (*std::min_element(values.begin(), values.end()) <
          *std::max_element(values.begin(), values.end()))
        check_sort(values);
    if (n > 2) check_sort(codes);
    check_sort(two);
  }
}
