// SPDX-License-Identifier: MIT
#include "dist/train/trust.h"

#include <doctest/doctest.h>

#include <vector>

namespace kaiseki::dist {
namespace {

/// The share of 2000 results that was checked.
double checked(Trust& trust, const std::string& node, double ratio) {
  int count = 0;
  for (int i = 0; i < 2000; ++i) count += trust.checks(node, ratio);
  return count / 2000.0;
}

void prove(Trust& trust, const std::string& node, int results) {
  for (int i = 0; i < results; ++i) trust.agreed(node);
}

}  // namespace

TEST_CASE("checks are random unless a seed is set") {
  const auto draws = [](std::optional<uint64_t> seed) {
    Trust trust({.check_share = 0.5, .newcomer_checks = 0, .seed = seed});
    prove(trust, "node", 100);
    std::vector<bool> checked;
    for (int i = 0; i < 200; ++i) checked.push_back(trust.checks("node", 1));
    return checked;
  };
  CHECK(draws({}) != draws({}));
  CHECK(draws(7) == draws(7));
  CHECK(draws(7) != draws(8));
}

TEST_CASE("all results of a newcomer are checked, later fewer, but at least check_share") {
  Trust trust({.check_share = 0.02, .newcomer_checks = 10, .seed = 1});
  prove(trust, "node", 9);
  CHECK(checked(trust, "node", 1) == 1);
  prove(trust, "node", 1);
  CHECK(checked(trust, "node", 1) == doctest::Approx(0.1).epsilon(0.25));
  prove(trust, "node", 490);
  CHECK(checked(trust, "node", 1) == doctest::Approx(0.02).epsilon(0.5));
}

TEST_CASE("a large result is checked as often as small ones with the same sum") {
  Trust trust({.check_share = 0.02, .newcomer_checks = 10, .seed = 1});
  prove(trust, "node", 500);
  CHECK(checked(trust, "node", 10) == doctest::Approx(0.2).epsilon(0.2));
  CHECK(checked(trust, "node", 0.1) == doctest::Approx(0.02).epsilon(0.5));
  CHECK(checked(trust, "node", 50) == 1);
}

TEST_CASE("unchecked results of an expelled node taint steps until the undo") {
  Trust trust({.seed = 1});
  CHECK(!trust.has_unchecked());
  trust.counted("liar", 7);
  trust.counted("liar", 9);
  trust.counted("good", 5);
  CHECK(trust.has_unchecked());
  CHECK(!trust.tainted_since());
  trust.expel("liar", 100);
  CHECK(trust.tainted_since() == 7);
  trust.forget_before(8);
  CHECK(trust.tainted_since() == 9);
  trust.undo(8, 10);
  CHECK(!trust.tainted_since());
  CHECK(!trust.has_unchecked());
  trust.expel("good", 100);
  CHECK(!trust.tainted_since());
}

TEST_CASE("the step of an expulsion needs no undo") {
  Trust trust({.seed = 1});
  trust.counted("liar", 4);
  trust.expel("liar", 4);
  CHECK(!trust.tainted_since());
  CHECK(trust.expelled("liar"));
}

TEST_CASE("steps before an undo are not reported as tainted again") {
  Trust trust({.seed = 1});
  trust.counted("liar", 2);
  trust.expel("liar", 100);
  trust.undo(4, 6);
  CHECK(!trust.tainted_since());
}

TEST_CASE("after an undo all nodes need twice as many checked results for some time") {
  Trust trust({.check_share = 0, .newcomer_checks = 4, .undo_steps = 8, .seed = 1});
  const auto proof = [&] {  // results that a node needs to be proven
    static int names = 0;
    const std::string node = "node" + std::to_string(++names);
    int needed = 0;
    while (trust.checks(node, 1)) trust.agreed(node), ++needed;
    return needed;
  };
  prove(trust, "good", 100);
  CHECK(proof() == 4);
  trust.undo(0, 2);
  CHECK(trust.checks("good", 1));
  CHECK(proof() == 8);
  trust.undo(1, 3);
  CHECK(proof() == 16);
  trust.forget_before(66);
  CHECK(proof() == 16);
  trust.forget_before(67);
  CHECK(proof() == 8);
  trust.forget_before(130);
  CHECK(proof() == 8);
  trust.forget_before(131);
  CHECK(proof() == 4);
  trust.forget_before(200);
  CHECK(proof() == 4);
  for (int i = 0; i < 20; ++i) trust.undo(200, 210);
  CHECK(proof() == 256);
}

TEST_CASE("check_all() checks proven nodes too") {
  Trust trust({.check_share = 0, .newcomer_checks = 0, .seed = 1});
  CHECK(!trust.checks("node", 1));
  trust.check_all(true);
  CHECK(trust.checks("node", 1));
  trust.check_all(false);
  CHECK(!trust.checks("node", 1));
}

}  // namespace kaiseki::dist
