// SPDX-License-Identifier: MIT
// The measurement of a convolution's solvers: it detects wrong values, and computes nothing twice.
#include "matrix/conv/measure.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "tests/matrix/conv/directions.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

namespace kaiseki {
namespace {

constexpr ConvProblem kProblem{ConvDirection::forward, 2, 3, 8, 8, 4, 3, 3};

/// Returns a solver that needs no workspace.
const ConvSolver& plain_solver(Backend& backend, const ConvProblem& p) {
  const auto solvers = backend.conv_solvers();
  const auto plain = std::ranges::find_if(solvers, [&](const ConvSolver* solver) {
    return solver->applicable(p) && solver->workspace_bytes(p) == 0;
  });
  REQUIRE(plain != solvers.end());
  return **plain;
}

class Zeros : public ConvSolver {
 public:
  std::string_view name() const override { return "zeros"; }
  bool applicable(const ConvProblem&) const override { return true; }
  uint64_t workspace_bytes(const ConvProblem&) const override { return 0; }
  void run(const ConvProblem& p, const ConvArgs& args) const override {
    fill(p.direction == ConvDirection::forward         ? *args.y
         : p.direction == ConvDirection::backward_data ? *args.x
                                                       : *args.filter,
         0);
  }
};

/// Computes correct values, but if it must add to a gradient, it fails after it has added
/// something.
template <typename Failure>
class FailsHalfway : public Zeros {
 public:
  FailsHalfway(const ConvSolver& right, Failure failure) : right_(right), failure_(failure) {}
  void run(const ConvProblem& p, const ConvArgs& args) const override {
    if (args.beta == 0) return right_.run(p, args);
    update("g = g + 1", {{"g", *args.filter}});
    throw failure_;
  }

 private:
  const ConvSolver& right_;
  const Failure failure_;
};

struct Data {
  Tensor x, filter, y;
  explicit Data(Device device)
      : x(test::random_tensor({kProblem.n, kProblem.c, kProblem.h, kProblem.w}, 1, device)),
        filter(test::random_tensor({kProblem.k, kProblem.c, kProblem.r, kProblem.s}, 2, device)),
        y(test::random_tensor({kProblem.n, kProblem.k, kProblem.out_h(), kProblem.out_w()}, 3,
                              device)) {}
  ConvArgs args() { return {.x = &x, .filter = &filter, .y = &y}; }
};

}  // namespace

TEST_CASE("measuring: if inputs are zeros, random inputs are used") {
  test::for_each_device([](Device device) {
    Backend& backend = device.backend();
    const Zeros zeros;
    for (ConvDirection direction : test::kDirections) {
      ConvProblem p = kProblem;
      p.direction = direction;
      Data data(device);
      fill(direction == ConvDirection::forward ? data.x : data.y, 0);
      ConvMeasurement measurement(backend, p, {&zeros, &plain_solver(backend, p)});
      measurement.run(data.args());
      const auto results = measurement.results();
      REQUIRE(results.size() == 2);
      CHECK(results[0].outcome == TuningOutcome::wrong);
      CHECK(results[1].outcome == TuningOutcome::timed);
    }
  });
}

TEST_CASE("measuring: additions of a solver that failed are undone") {
  test::for_each_device([](Device device) {
    if (device.is_cpu()) return;  // its solvers cannot fail after they have added something
    Backend& backend = device.backend();
    ConvProblem p = kProblem;
    p.direction = ConvDirection::backward_filter;
    const auto check = [&](const ConvSolver& fails, size_t results) {
      Data data(device);
      data.filter = Tensor::full(data.filter.shape(), 2, device);
      ConvArgs args = data.args();
      args.beta = 1;
      ConvMeasurement measurement(backend, p, {&fails});
      for (int steps = 0; !measurement.done(); ++steps) {
        REQUIRE(steps < 2);
        CHECK_FALSE(measurement.step(args));
        const std::vector<float> values = data.filter.to_vector();
        CHECK(values == std::vector<float>(values.size(), 2));
      }
      CHECK(measurement.results().size() == results);
    };
    const ConvSolver& right = plain_solver(backend, p);
    check(FailsHalfway(right, KernelError("refused")), 1);
    check(FailsHalfway(right, OutOfMemory("a device", {.asked = 1})), 0);
  });
}

}  // namespace kaiseki
