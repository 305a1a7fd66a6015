// SPDX-License-Identifier: MIT
// Which solver runs: the fastest that was measured, and without measurements the first of the list.
#include "matrix/conv/select.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

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

TEST_CASE(
    "solver order: measured ones by their time, then the others; the rest of a line is ignored") {
  test::CacheFolder folder("select");
  test::for_each_device([](Device device) {
    Backend& backend = device.backend();
    forget_solver_orders();
    const std::vector<std::string> untuned = names(solver_order(backend, kProblem));
    REQUIRE(untuned.size() >= 2);
    remember_tuning(convolution_key(backend, kProblem),
                    {{untuned[0], 5, 0}, {"gone", 0.1, 0}, {untuned.back(), 1, 0}});
    CHECK(names(solver_order(backend, kProblem)) == untuned);  // as this process knows it
    forget_solver_orders();
    const std::vector<std::string> tuned = names(solver_order(backend, kProblem));
    CHECK(tuned[0] == untuned.back());
    CHECK(tuned[1] == untuned[0]);
    CHECK(std::set(tuned.begin(), tuned.end()) == std::set(untuned.begin(), untuned.end()));
    CHECK(tuned.size() == untuned.size());
    ConvProblem other = kProblem;
    other.n = 4;
    CHECK(names(solver_order(backend, other))[0] == untuned[0]);
    check_convolution(kProblem, device);
  });
  forget_solver_orders();
}

TEST_CASE("solver order: measurements with other threads are not ours") {
  test::CacheFolder folder("select_threads");
  Backend& backend = Device::cpu().backend();
  set_thread_count(1);
  const std::vector<std::string> untuned = names(solver_order(backend, kProblem));
  remember_tuning(convolution_key(backend, kProblem), {{untuned.back(), 1, 0}});
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
