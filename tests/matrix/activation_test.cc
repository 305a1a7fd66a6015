// SPDX-License-Identifier: MIT
#include "matrix/activation.h"

#include <doctest/doctest.h>

#include <initializer_list>

namespace kaiseki {

TEST_CASE("activation: a new one runs in a second pass, so no convolution leaves it out") {
  for (Activation kind : {Activation::none, Activation::relu, Activation::leaky_relu})
    CHECK(is_cheap(kind));
  for (Activation kind : {Activation::sigmoid, Activation::tanh}) CHECK_FALSE(is_cheap(kind));
  CHECK_FALSE(is_cheap(static_cast<Activation>(200)));
}

}  // namespace kaiseki
