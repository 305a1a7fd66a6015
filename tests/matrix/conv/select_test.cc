// SPDX-License-Identifier: MIT
// Which solver runs: the fastest that was measured, and without measurements the first of the list.
#include "matrix/conv/select.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "matrix/conv/measure.h"
#include "matrix/ops/conv.h"
#include "matrix/threads.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/cache_folder.h"
#include "tests/support/devices.h"

namespace kaiseki {
namespace {

const ConvProblem kProblem{ConvDirection::forward, 3, 17, 13, 11, 19, 3, 3, {1, 1}, {1, 1}};

std::vector<std::string> names(const std::vector<const ConvSolver*>& solvers) {
  std::vector<std::string> all;
  for (const ConvSolver* solver : solvers) all.emplace_back(solver->name());
  return all;
}

/// All three directions through the public functions, against plain loops.
void check_convolution(const ConvProblem& p, Device device) {
  Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, device), dx = x.clone();
  Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, device);
  Tensor dy = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, device), y = dy.clone();
  Tensor dfilter = Tensor::full(filter.shape(), 2, device);
  const auto expected =
      test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(dy));
  const Conv2d conv{p.stride, p.padding, p.dilation, p.groups};
  conv2d(x, filter, nullptr, conv, y);
  conv2d_backward_data(dy, filter, conv, dx);
  conv2d_backward_filter(x, dy, conv, dfilter, 1);
  test::check_sums(y, expected.y, expected.y_size, true);
  test::check_sums(dx, expected.dx, expected.dx_size, true);
  test::Doubles sums = expected.dfilter, sizes = expected.dfilter_size;
  for (double& value : sums) value += 2;
  for (double& value : sizes) value += 2;
  test::check_sums(dfilter, sums, sizes, true);
}

}  // namespace

TEST_CASE("solver order: the fastest first where each was measured, else as the backend has it") {
  test::CacheFolder folder("select");
  test::for_each_device([](Device device) {
    Backend& backend = device.backend();
    forget_solver_orders();
    const std::vector<std::string> untuned = names(solver_order(backend, kProblem));
    REQUIRE(untuned.size() >= 2);
    std::vector<TuningResult> all = {{"gone", 0.1, 0}};
    for (size_t i = 0; i < untuned.size(); ++i)
      all.push_back({untuned[i], 10.0 - static_cast<double>(i), 0});
    const auto order_with = [&](const std::vector<TuningResult>& results) {
      remember_tuning(convolution_key(backend, kProblem), results);
      forget_solver_orders();
      return names(solver_order(backend, kProblem));
    };
    const std::vector<std::string> reversed(untuned.rbegin(), untuned.rend());
    CHECK(order_with(all) == reversed);
    check_convolution(kProblem, device);
    all.pop_back();
    CHECK(order_with(all) == untuned);  // one is missing: a damaged line, say
    all.push_back({untuned.back(), kWrongMilliseconds, 0});
    CHECK(order_with(all) == std::vector(reversed.begin() + 1, reversed.end()));
    check_convolution(kProblem, device);
    all.back().milliseconds = kRefusedMilliseconds;
    CHECK(order_with(all).back() == untuned.back());
    ConvProblem other = kProblem;
    other.n = 4;
    CHECK(names(solver_order(backend, other)) == untuned);
  });
  forget_solver_orders();
}

TEST_CASE("solver order: measurements with other threads are not ours") {
  test::CacheFolder folder("select_threads");
  Backend& backend = Device::cpu().backend();
  set_thread_count(1);
  const std::vector<std::string> untuned = names(solver_order(backend, kProblem));
  std::vector<TuningResult> all;
  for (size_t i = 0; i < untuned.size(); ++i)
    all.push_back({untuned[i], 10.0 - static_cast<double>(i), 0});
  remember_tuning(convolution_key(backend, kProblem), all);
  forget_solver_orders();
  CHECK(names(solver_order(backend, kProblem))[0] == untuned.back());
  set_thread_count(2);
  CHECK(names(solver_order(backend, kProblem))[0] == untuned[0]);
  set_thread_count(0);
  forget_solver_orders();
}

TEST_CASE("tuning: every solver that can do it is measured, the results stay right and are kept") {
  test::CacheFolder folder("select_tune");
  test::for_each_device([](Device device) {
    for (size_t index : {1, 8, 10, 19, 20}) {
      const ConvProblem p = test::conv_cases()[index];
      forget_solver_orders();
      std::vector<ConvProblem> met;
      {
        TuneConvolutions tune(
            [&](const ConvProblem& problem, const std::vector<TuningResult>& results) {
              INFO(problem.str());
              met.push_back(problem);
              std::set<std::string> measured, able;
              for (const TuningResult& result : results) {
                CHECK(result.milliseconds > 0);
                measured.insert(result.candidate);
              }
              for (const ConvSolver* solver : device.backend().conv_solvers())
                if (solver->applicable(problem)) able.emplace(solver->name());
              CHECK(measured == able);
            });
        check_convolution(p, device);
        check_convolution(p, device);
      }
      CHECK(met.size() == 6);
      check_convolution(p, device);
      CHECK(met.size() == 6);
      forget_solver_orders();
      for (size_t i = 0; i < 3; ++i) {
        auto results = recall_tuning(convolution_key(device.backend(), met[i]));
        REQUIRE_FALSE(results.empty());
        const auto best = std::ranges::min_element(results, {}, &TuningResult::milliseconds);
        CHECK(solver_order(device.backend(), met[i])[0]->name() == best->candidate);
      }
    }
  });
  forget_solver_orders();
}

}  // namespace kaiseki
