// SPDX-License-Identifier: MIT
// The time that no plan can go below, and the predicted time of steps in pieces.
#include "nn/plan_bound.h"

#include <doctest/doctest.h>

#include "nn/parse_network.h"
#include "nn/pass_timeline.h"
#include "nn/piece_times.h"
#include "nn/planner.h"
#include "nn/recomputation.h"
#include "tests/nn/less_memory.h"

namespace kaiseki::nn {
namespace {

using test::kBatch;

constexpr DeviceRates kSlow{.multiply_adds = 1e10, .bytes = 1e10};

uint64_t as_it_is(uint64_t bytes) { return bytes; }

struct BoundCase {
  explicit BoundCase(const char* json)
      : graph(build_graph(parse_network(json, "test"))),
        plan(make_execution_plan(graph, {.phase = Phase::train, .loss = true, .backward = true})),
        peak(predict_peak(graph, plan, kBatch, as_it_is)) {}

  PassLimits limits(double part, const DeviceRates& rates) const {
    return {.batch = kBatch,
            .room = static_cast<uint64_t>(part * static_cast<double>(peak)),
            .rates = rates,
            .rounded = as_it_is};
  }
  std::vector<StepTime> times(const DeviceRates& rates) const {
    return step_times(graph, plan, kBatch, rates, {});
  }

  Graph graph;
  ExecutionPlan plan;
  uint64_t peak;
};

/// Computing without copies.
double compute_seconds(const std::vector<StepTime>& times) {
  double seconds = 0;
  for (const StepTime& time : times) seconds += time.forward + time.backward;
  return seconds;
}

}  // namespace

TEST_CASE("bound: no plan that the search finds is faster") {
  int plans = 0, in_pieces = 0;
  for (const char* json : {test::kShortcut, test::kSums, test::kTwoHeads}) {
    const BoundCase subject(json);
    for (const double link : {1e6, 1e8, 1e9, 1e12})
      for (const bool overlaps : {false, true})
        for (const double part : {0.9, 0.6, 0.4, 0.2, 0.1, 0.05}) {
          CAPTURE(json);
          CAPTURE(link);
          CAPTURE(overlaps);
          CAPTURE(part);
          DeviceRates rates = kSlow;
          rates.link = LinkRates{link, link / 2};
          rates.link->overlaps = overlaps;
          rates.link->slows = overlaps ? 1e-10 : 0;
          const FittedPlan fitted =
              fit_plan(subject.graph, subject.plan, subject.limits(part, rates));
          REQUIRE(fitted.bound);
          CHECK(*fitted.bound > 0);
          if (fitted.missing != 0) continue;
          CHECK(*fitted.bound <= 1.000001 * fitted.seconds.value());
          ++plans;
          in_pieces += fitted.in_pieces > 0;
        }
  }
  CHECK(plans > 60);
  CHECK(in_pieces > 20);
}

TEST_CASE("bound: a link that costs nothing leaves the time of computing") {
  const BoundCase subject(test::kSums);
  DeviceRates rates = kSlow;
  rates.link = LinkRates{1e15, 1e15};
  rates.link->overlaps = true;
  const std::vector<StepTime> times = subject.times(rates);
  CHECK(*bound_of_plans(subject.graph, subject.plan, subject.limits(0.5, rates), times) ==
        doctest::Approx(compute_seconds(times)));
  CHECK(*bound_of_plans(subject.graph, subject.plan, subject.limits(1, kSlow), times) ==
        doctest::Approx(compute_seconds(times)));
}

TEST_CASE("bound: bytes beyond the room cross a slow link once in each direction") {
  // Nothing of this network can be computed again: every value is an input, an output or a view.
  const BoundCase subject(R"({"inputs": {"x": {"shape": [4, 40, 40]}}, "layers": [
      {"name": "f", "type": "fully_connected", "output_size": 5}]})");
  DeviceRates rates = kSlow;
  rates.link = LinkRates{1e3, 500};
  rates.link->overlaps = true;
  const PassLimits limits = subject.limits(0.75, rates);
  const std::vector<StepTime> times = subject.times(rates);
  const uint64_t idle = idle_weight_bytes(subject.graph, as_it_is, 1 << 15);
  const FullestStep fullest = find_fullest_step(subject.graph, subject.plan, kBatch, as_it_is);
  CHECK(fullest.bytes == subject.peak);
  CHECK(fullest.own > limits.room);  // so its own tensors can cross the link beside computing
  const double bytes = static_cast<double>(subject.peak + idle - fullest.own - limits.room);
  CHECK(bytes > 0);
  CHECK(*bound_of_plans(subject.graph, subject.plan, limits, times) ==
        doctest::Approx(bytes / 500));
  rates.link->overlaps = false;
  CHECK(*bound_of_plans(subject.graph, subject.plan, subject.limits(0.75, rates), times) ==
        doctest::Approx(compute_seconds(times) + bytes / 500 + bytes / 1e3));
}

TEST_CASE("pass timeline: copies run beside two steps, each direction one at a time") {
  LinkRates link{10, 5};
  link.overlaps = true;
  PassTimeline beside(link);
  beside.add(2, 0, 0);
  CHECK(beside.seconds() == 2);
  beside.add(2, 20, 5);  // out from 0 to 2, in from 2 to 3
  CHECK(beside.seconds() == 5);
  beside.add(2, 20, 0);  // out from 2 to 4
  CHECK(beside.seconds() == 7);
  beside.add(1, 0, 50);  // in from 3, where the second step began, to 13
  CHECK(beside.seconds() == 14);
  link.overlaps = false;
  PassTimeline in_turn(link);
  in_turn.add(2, 20, 5);
  CHECK(in_turn.seconds() == 2 + 2 + 1);
  link.slows = 0.1;
  PassTimeline slower(link);
  slower.add(2, 20, 5);
  CHECK(slower.seconds() == doctest::Approx(5 + 2.5));
}

TEST_CASE("step pieces: less room needs more pieces and time, never less than computing") {
  const BoundCase subject(test::kShortcut);
  DeviceRates rates = kSlow;
  rates.link = LinkRates{1e9, 1e9};
  const std::vector<StepTime> times = subject.times(rates);
  const std::vector<StepMemory> steps =
      predict_memory(subject.graph, subject.plan, kBatch, as_it_is);
  for (size_t time = 0; time < steps.size(); ++time) {
    const bool forward = time < times.size();
    const StepTime& whole = times[forward ? time : steps.size() - 1 - time];
    if (!forward && whole.backward == 0) continue;
    CAPTURE(time);
    StepPieces before{.count = 2};
    for (const double part : {0.5, 0.25, 0.125}) {
      CAPTURE(part);
      PassLimits limits = subject.limits(1, rates);
      limits.room = static_cast<uint64_t>(part * static_cast<double>(steps[time].own));
      const StepPieces now =
          PieceTimes(subject.graph, limits, times).of(subject.plan, time, steps[time]);
      CHECK(now.count >= before.count);
      CHECK(now.seconds >= 0.999 * before.seconds);
      CHECK(now.seconds >= 0.999 * (forward ? whole.forward : whole.backward));
      before = now;
    }
  }
}

}  // namespace kaiseki::nn
