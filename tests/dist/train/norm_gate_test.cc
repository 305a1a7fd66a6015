// SPDX-License-Identifier: MIT
#include "dist/train/norm_gate.h"

#include <doctest/doctest.h>

#include <cmath>

namespace kaiseki::dist {
namespace {

std::vector<ResultNorm> result(double a, double b, double state = 1) {
  return {{"a", a, true}, {"b", b, true}, {"state", state, false}};
}

void add(NormGate& gate, const std::vector<ResultNorm>& norms, int times) {
  for (int i = 0; i < times; ++i) gate.add(norms);
}

}  // namespace

TEST_CASE("the ratio is infinite if a name has fewer than 8 norms") {
  NormGate gate;
  CHECK(!gate.ratio(result(1, 10)));
  add(gate, result(1, 10), 7);
  CHECK(!gate.ratio(result(1, 10)));
  add(gate, result(1, 10), 1);
  CHECK(gate.ratio(result(1, 10)) == 1);
  CHECK(!gate.ratio({{"a", 1, true}, {"another", 1, true}}));
  gate.clear();
  CHECK(!gate.ratio(result(1, 10)));
}

TEST_CASE("one larger tensor determines the ratio") {
  NormGate gate;
  add(gate, result(1, 10), 8);
  CHECK(gate.ratio(result(5, 10)).value() == doctest::Approx(5));
  CHECK(gate.ratio(result(0, 30)).value() == doctest::Approx(3));
  CHECK(gate.ratio(result(1, 10, 7)).value() == doctest::Approx(7));
  CHECK(gate.ratio(result(1e30, 10)) > 1e18);
  CHECK(gate.ratio(result(0, 0, 0)) == 1);
}

TEST_CASE("norms are compared with the upper quartile of the last 64") {
  NormGate gate;
  add(gate, result(1, 1), 40);
  add(gate, result(4, 1), 24);
  CHECK(gate.ratio(result(8, 1)).value() == doctest::Approx(2));
  add(gate, result(1, 1), 55);
  CHECK(gate.ratio(result(8, 1)).value() == doctest::Approx(8));
}

TEST_CASE("a gradient far below the largest one counts as rounding, a state does not") {
  NormGate gate;
  add(gate, result(1, 1e-9, 1e-9), 8);
  CHECK(gate.ratio(result(1, 1e-5)) > 1e8);  // the state is 1
  CHECK(gate.ratio(result(1, 1e-5, 1e-9)) == 1);
  CHECK(gate.ratio(result(1, 1e-3, 1e-9)).value() == doctest::Approx(10));
  NormGate outputs;
  add(outputs, {{"output", 1e6, false}, {"g", 1, true}}, 8);
  CHECK(outputs.ratio({{"output", 1e6, false}, {"g", 20, true}}).value() == doctest::Approx(20));
}

TEST_CASE("norms of zero do not divide by zero") {
  NormGate zeros;
  add(zeros, result(0, 0, 0), 8);
  CHECK(zeros.ratio(result(0, 0, 0)) == 1);
  CHECK(std::isinf(zeros.ratio(result(1, 0, 0)).value()));
}

}  // namespace kaiseki::dist
