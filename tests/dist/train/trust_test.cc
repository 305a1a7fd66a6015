// SPDX-License-Identifier: MIT
#include "dist/train/trust.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "matrix/random.h"

namespace kaiseki::dist {
namespace {

/// The share of 2000 results that was checked.
double checked(Trust& trust, const std::string& node, double ratio) {
  int count = 0;
  for (int i = 0; i < 2000; ++i) count += trust.draws_check(node, ratio);
  return count / 2000.0;
}

void prove(Trust& trust, const std::string& node, int results) {
  for (int i = 0; i < results; ++i) trust.agreed(node, 0);
}

/// Training of 5000 steps with 16 tickets each and an undo window of 64 steps. Liars flip signs in
/// all results after the first one that was not checked.
struct SparsePool {
  int nodes, liars;
  int64_t pause;  // a liar answers only if its last result is older than this many steps

  /// The number of lies that counted and were not undone.
  int64_t lies_left(uint64_t seed) const {
    struct Liar {
      bool lies = false;
      int64_t last = -1000;
      std::vector<int64_t> counted = {};  // steps of its lies
    };
    Trust trust({.undo_steps = 64, .seed = seed});
    Random random(seed, 1);
    std::map<int, Liar> all;
    for (int64_t step = 0; step < 5000; ++step) {
      const int64_t oldest = std::max<int64_t>(0, step - 64);
      trust.forget_before(oldest);
      for (int i = 0; i < 16; ++i) {
        const int node = static_cast<int>(random.below(static_cast<uint64_t>(nodes)));
        const std::string name = std::to_string(node);
        Liar* liar = node < liars ? &all[node] : nullptr;
        if (trust.expelled(name) || (liar && step - liar->last <= pause)) continue;
        if (liar) liar->last = step;
        if (!trust.draws_check(name, 1)) {
          trust.counted(name, step);
          if (liar && std::exchange(liar->lies, true)) liar->counted.push_back(step);
        } else if (liar && liar->lies) {
          trust.expel(name, step);
        } else {
          trust.agreed(name, 0);
        }
      }
      if (const auto first = trust.tainted_since()) {
        for (auto& [node, liar] : all)
          std::erase_if(liar.counted, [&](int64_t lie) { return lie >= *first; });
        trust.undo(*first, step);
      }
    }
    int64_t left = 0;
    for (const auto& [node, liar] : all) left += std::ssize(liar.counted);
    return left;
  }
};

}  // namespace

TEST_CASE("checks are random unless a seed is set") {
  const auto draws = [](std::optional<uint64_t> seed) {
    Trust trust({.checks = {.check_share = 0.5, .newcomer_checks = 0}, .seed = seed});
    prove(trust, "node", 100);
    std::vector<bool> checked;
    for (int i = 0; i < 200; ++i) checked.push_back(trust.draws_check("node", 1));
    return checked;
  };
  CHECK(draws({}) != draws({}));
  CHECK(draws(7) == draws(7));
  CHECK(draws(7) != draws(8));
}

TEST_CASE("all results of a newcomer are checked, later fewer, but at least check_share") {
  Trust trust({.checks = {.check_share = 0.02, .newcomer_checks = 10}, .seed = 1});
  prove(trust, "node", 9);
  CHECK(checked(trust, "node", 1) == 1);
  prove(trust, "node", 1);
  CHECK(checked(trust, "node", 1) == doctest::Approx(0.1).epsilon(0.25));
  prove(trust, "node", 490);
  CHECK(checked(trust, "node", 1) == doctest::Approx(0.02).epsilon(0.5));
}

TEST_CASE("a large result is checked as often as small ones with the same sum") {
  Trust trust({.checks = {.check_share = 0.02, .newcomer_checks = 10}, .seed = 1});
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
  Trust trust({.checks = {.check_share = 0, .newcomer_checks = 4}, .undo_steps = 8, .seed = 1});
  const auto proof = [&] {  // results that a node needs to be proven
    static int names = 0;
    const std::string node = "node" + std::to_string(++names);
    int needed = 0;
    while (trust.draws_check(node, 1)) trust.agreed(node, 0), ++needed;
    return needed;
  };
  prove(trust, "good", 100);
  CHECK(proof() == 4);
  trust.undo(0, 2);
  CHECK(trust.draws_check("good", 1));
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

TEST_CASE("nodes that answer less often than the undo window is long leave few lies") {
  const auto most_of_three_runs = [](const SparsePool& pool) {
    int64_t most = 0;
    for (uint64_t seed = 1; seed <= 3; ++seed) most = std::max(most, pool.lies_left(seed));
    return most;
  };
  // A check finds a lie with a probability of at least 1 / 50. In a training of 80,000 results:
  CHECK(most_of_three_runs({100, 1, 0}) < 50);
  CHECK(most_of_three_runs({100, 70, 0}) < 150);
  CHECK(most_of_three_runs({1000, 1, 0}) < 50);
  CHECK(most_of_three_runs({1000, 700, 0}) < 150);
  // None of these liars has a result in the undo window when it is found.
  CHECK(most_of_three_runs({300, 200, 128}) < 150);
  CHECK(most_of_three_runs({1000, 700, 128}) < 150);
}

TEST_CASE("newcomers that lie once after their proof are checked longer, one after the other") {
  Trust trust({.checks = {.check_share = 0.02, .newcomer_checks = 10}, .seed = 1});
  int lies = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string name = std::to_string(i);
    int honest = 0;
    while (honest < 20 && trust.draws_check(name, 1)) trust.agreed(name, 0), ++honest;
    if (trust.draws_check(name, 5))
      trust.expel(name, i);
    else
      ++lies;
  }
  CHECK(lies < 20);
}

TEST_CASE("a node whose checked results deviate too much on average drifts") {
  Trust trust({.seed = 1});
  CHECK(!trust.drifts("node"));
  for (int i = 0; i < 9; ++i) trust.agreed("node", 0.01);
  CHECK(!trust.drifts("node"));  // too few
  trust.agreed("node", 0.01);
  CHECK(trust.drifts("node"));
  for (int i = 0; i < 100; ++i) trust.agreed("other", i % 10 == 0 ? 0.01 : 0.0005);
  CHECK(!trust.drifts("other"));
  for (int i = 0; i < 7; ++i) trust.agreed("other", 0.005);
  CHECK(trust.drifts("other"));  // the last ten count
  for (int i = 0; i < 10; ++i) trust.agreed("below", 0.99 * Trust::kMostDrift);
  CHECK(!trust.drifts("below"));
}

TEST_CASE("check_all() checks proven nodes too") {
  Trust trust({.checks = {.check_share = 0, .newcomer_checks = 0}, .seed = 1});
  CHECK(!trust.draws_check("node", 1));
  trust.check_all(true);
  CHECK(trust.draws_check("node", 1));
  trust.check_all(false);
  CHECK(!trust.draws_check("node", 1));
}

}  // namespace kaiseki::dist
