// SPDX-License-Identifier: MIT
// Every solver of every device, in every direction that it supports, against plain loops in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "matrix/backend/backend.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/directions.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/activation.h"
#include "tests/support/devices.h"
#include "tests/support/slow.h"

namespace kaiseki {
namespace {

struct Data {
  Tensor x, filter, y, bias;
  Data(const ConvProblem& p, Device device)
      : x(test::random_tensor({p.n, p.c, p.h, p.w}, 1, device)),
        filter(test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, device)),
        y(test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, device)),
        bias(test::random_tensor({p.k}, 4, device)) {}

  /// The same for each device and test case, so each problem is computed once.
  const test::ConvReference& expected(const ConvProblem& p) const {
    static std::map<std::string, test::ConvReference> known;
    const auto [found, is_new] = known.try_emplace(p.str());
    if (is_new)
      found->second =
          test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y));
    return found->second;
  }
};

bool mixes_sums(const ConvSolver& solver) {
  return solver.name().find("winograd") != std::string_view::npos ||
         solver.name().find("fft") != std::string_view::npos;
}

/// Checks that each solver ran in each direction that it supports, and in no other.
void check_all_ran(const std::set<std::string>& ran, Backend& backend) {
  const std::set<std::string> all = test::all_runs(backend);
  for (const std::string& name : all)
    if (!ran.contains(name))
      FAIL_CHECK(name << " did not run: tests/matrix/conv/directions.h lists it, and applicable() "
                         "accepts no problem of tests/matrix/conv/cases.h");
  for (const std::string& name : ran)
    if (!all.contains(name))
      FAIL_CHECK(name << " ran: applicable() accepts a problem, and "
                         "tests/matrix/conv/directions.h lacks this direction");
}

void check_bias_and_activations(const ConvSolver& solver, const ConvProblem& p, Data& data,
                                const test::ConvReference& expected, Device device) {
  const test::Doubles bias = test::doubles(data.bias);
  const auto plane = static_cast<size_t>(p.out_h() * p.out_w());
  for (Activation activation : kActivations) {
    test::Doubles values = expected.y, size = expected.y_size;
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = test::activate(values[i] + bias[i / plane % bias.size()], activation, 0.1);
      size[i] += 1;
    }
    Tensor y = Tensor::full(data.y.shape(), 7, device);
    test::run_solver(solver, p,
                     {.x = &data.x,
                      .filter = &data.filter,
                      .y = &y,
                      .bias = &data.bias,
                      .activation = activation,
                      .slope = 0.1f},
                     device);
    test::check_sums(y, values, size, mixes_sums(solver));
  }
}

void check_beta(const ConvSolver& solver, const ConvProblem& p, Data& data,
                const test::ConvReference& expected, Device device) {
  Tensor dfilter = data.filter.clone();
  test::Doubles sums = expected.dfilter, size = expected.dfilter_size;
  const test::Doubles before = test::doubles(data.filter);
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] += 0.5 * before[i];
    size[i] += 1;
  }
  test::run_solver(solver, p, {.x = &data.x, .filter = &dfilter, .y = &data.y, .beta = 0.5f},
                   device);
  test::check_sums(dfilter, sums, size, mixes_sums(solver));
}

}  // namespace

TEST_CASE("every solver agrees with plain loops") {
  test::for_each_device([](Device device) {
    std::set<std::string> ran;
    for (ConvProblem p : test::conv_cases()) {
      Data data(p, device);
      const test::ConvReference& expected = data.expected(p);
      for (const ConvSolver* solver : device.backend().conv_solvers())
        for (ConvDirection direction : test::kDirections) {
          p.direction = direction;
          if (!solver->applicable(p)) continue;
          INFO(test::run_name(solver->name(), direction), " ", p.str());
          const bool forward = direction == ConvDirection::forward;
          const bool back = direction == ConvDirection::backward_data;
          const Tensor& like = forward ? data.y : back ? data.x : data.filter;
          Tensor result = Tensor::full(like.shape(), 7, device);
          ConvArgs args{.x = &data.x, .filter = &data.filter, .y = &data.y};
          (forward ? args.y : back ? args.x : args.filter) = &result;
          test::run_solver(*solver, p, args, device);
          test::check_sums(result,
                           forward ? expected.y
                           : back  ? expected.dx
                                   : expected.dfilter,
                           forward ? expected.y_size
                           : back  ? expected.dx_size
                                   : expected.dfilter_size,
                           mixes_sums(*solver));
          ran.insert(test::run_name(solver->name(), direction));
        }
    }
    check_all_ran(ran, device.backend());
  });
}

TEST_CASE("every solver adds the bias, applies the activation, and applies beta to the gradient") {
  test::for_each_device([](Device device) {
    const auto few = test::common_conv_cases();
    std::set<std::string> ran;
    for (ConvProblem p : test::conv_cases_to_repeat(device)) {
      Data data(p, device);
      const test::ConvReference& expected = data.expected(p);
      // On OpenCL each problem is a kernel to build, so only some run with every solver.
      const bool all = (device.is_cpu() && !KAISEKI_SLOW) || std::ranges::find(few, p) != few.end();
      for (const ConvSolver* solver : device.backend().conv_solvers())
        for (ConvDirection direction : {ConvDirection::forward, ConvDirection::backward_filter}) {
          p.direction = direction;
          const std::string name = test::run_name(solver->name(), direction);
          if (!solver->applicable(p) || (!all && ran.contains(name))) continue;
          INFO(name, " ", p.str());
          (direction == ConvDirection::forward ? check_bias_and_activations : check_beta)(
              *solver, p, data, expected, device);
          ran.insert(name);
        }
    }
    for (const std::string& name : test::all_runs(device.backend()))
      if (name.ends_with(direction_name(ConvDirection::backward_data))) ran.insert(name);
    check_all_ran(ran, device.backend());
  });
}

TEST_CASE("a problem counts its operations and has a name") {
  ConvProblem p{ConvDirection::forward, 1, 2, 19, 23, 3, 3, 2, {2, 3}, {3, 4}, {3, 2}};
  CHECK(p.str() == "n1c2h19w23k3r3s2p3x4u2x3d3x2");
  CHECK(p.out_h() == 10);
  CHECK(p.out_w() == 10);
  CHECK(p.flops() == 2.0 * 1 * 3 * 10 * 10 * 2 * 3 * 2);
  p = {ConvDirection::forward, 2, 7, 9, 9, 7, 3, 3, {1, 1}, {1, 1}, {1, 1}, 7};
  CHECK(p.str() == "n2c7h9w9k7r3s3p1g7");
}

}  // namespace kaiseki
