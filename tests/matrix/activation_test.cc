// SPDX-License-Identifier: MIT
#include "matrix/activation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace kaiseki {

TEST_CASE("activation: each has a name of its own") {
  std::set<std::string_view> names;
  for (Activation kind : kActivations) names.insert(activation_name(kind));
  CHECK(names.size() == kActivations.size());
  CHECK(std::count(kActivations.begin(), kActivations.end(), Activation::tanh) == 1);
  CHECK(activation_name(Activation::leaky_relu) == "leaky_relu");
  CHECK(activation_name(static_cast<Activation>(200)).empty());
}

TEST_CASE("activation: a new one runs in a second pass, so no convolution leaves it out") {
  const std::set<Activation> cheap = {Activation::none, Activation::relu, Activation::leaky_relu};
  for (Activation kind : kActivations) CHECK(is_cheap(kind) == cheap.contains(kind));
  CHECK_FALSE(is_cheap(static_cast<Activation>(200)));
}

}  // namespace kaiseki
