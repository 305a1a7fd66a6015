// SPDX-License-Identifier: MIT
// The choice of a solver: the fastest if all were measured, otherwise the first of the list.
#include "matrix/conv/select.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "matrix/conv/measure.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "matrix/threads.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/cache_folder.h"
#include "tests/support/devices.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

const ConvProblem kProblem{ConvDirection::forward, 3, 17, 13, 11, 19, 3, 3, {1, 1}, {1, 1}};

std::vector<std::string> order(Backend& backend, const ConvProblem& problem) {
  std::vector<std::string> all;
  for (const ConvCandidate& candidate : conv_candidates(backend, problem))
    all.emplace_back(candidate.solver->name());
  return all;
}

/// Compares all three directions, through the public functions, with plain loops.
void check_convolution(const ConvProblem& p, Device device) {
  Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, device), dx = x.clone();
  Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, device);
  Tensor dy = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, device), y = dy.clone();
  Tensor dfilter = Tensor::full(filter.shape(), 2, device);
  const auto expected =
      test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(dy));
  const Conv2d conv = test::conv2d_of(p);
  conv2d_into(y, x, filter, conv);
  conv2d_backward_data_into(dx, dy, filter, conv);
  conv2d_backward_filter_into(dfilter, x, dy, conv, 1);
  test::check_sums(y, expected.y, expected.y_size, true);
  test::check_sums(dx, expected.dx, expected.dx_size, true);
  test::Doubles sums = expected.dfilter, sizes = expected.dfilter_size;
  for (double& value : sums) value += 2;
  for (double& value : sizes) value += 2;
  test::check_sums(dfilter, sums, sizes, true);
}

}  // namespace

TEST_CASE("solver order: the fastest first if all were measured, otherwise the backend's order") {
  test::CacheFolder folder("select");
  test::WithTunePolicy policy({TuneMode::cached});
  test::for_each_device([](Device device) {
    Backend& backend = device.backend();
    const std::vector<std::string> untuned = order(backend, kProblem);
    REQUIRE(untuned.size() >= 2);
    std::vector<TuningResult> all = {{"gone", 0.1, 0}};
    for (size_t i = 0; i < untuned.size(); ++i)
      all.push_back({untuned[i], 10.0 - static_cast<double>(i), 0});
    const auto order_with = [&](const std::vector<TuningResult>& results) {
      std::filesystem::remove(tuning_file());
      remember_tuning(convolution_key(backend, kProblem), results);
      forget_measurements();
      return order(backend, kProblem);
    };
    const std::vector<std::string> reversed(untuned.rbegin(), untuned.rend());
    CHECK(order_with(all) == reversed);
    check_convolution(kProblem, device);
    all.pop_back();
    CHECK(order_with(all) == untuned);  // one result is missing, for example after a damaged line
    all.push_back({untuned.back(), 0, 0, TuningOutcome::wrong});
    CHECK(order_with(all) == std::vector(reversed.begin() + 1, reversed.end()));
    check_convolution(kProblem, device);
    all.back().outcome = TuningOutcome::refused;
    CHECK(order_with(all).back() == untuned.back());
    ConvProblem other = kProblem;
    other.n = 4;
    CHECK(order(backend, other) == untuned);
    all.back() = {untuned.back(), 0.5, 0};
    CHECK(order_with(all) == reversed);
    set_tune_policy({TuneMode::off});
    CHECK(order(backend, kProblem) == untuned);
    set_tune_policy({TuneMode::cached, true});  // a deterministic policy ignores measurements
    CHECK(order(backend, kProblem) == untuned);
    set_tune_policy({TuneMode::cached});
    forget_measurements();
  });
}

TEST_CASE("solver order: the known seconds are those of the fastest solver that was measured") {
  test::CacheFolder folder("select_seconds");
  test::WithTunePolicy policy({TuneMode::cached});
  Backend& backend = Device::cpu().backend();
  CHECK_FALSE(fastest_known_seconds(backend, kProblem));
  const std::vector<std::string> names = order(backend, kProblem);
  REQUIRE(names.size() >= 3);
  remember_tuning(convolution_key(backend, kProblem),
                  {{names[0], 30, 0}, {names[1], 20, 0}, {names[2], 0, 0, TuningOutcome::wrong}});
  forget_measurements();
  CHECK(fastest_known_seconds(backend, kProblem) == 0.02);
  const auto workspace_of = [&](const std::string& name) {
    const auto solvers = backend.conv_solvers();
    return (*std::ranges::find(solvers, name, &ConvSolver::name))->workspace_bytes(kProblem);
  };
  Workspace& workspace = Device::cpu().workspace();
  workspace.set_limit(0);
  const bool first = workspace_of(names[0]) == 0, second = workspace_of(names[1]) == 0;
  const std::optional<double> without = fastest_known_seconds(backend, kProblem);
  CHECK(without == (second ? std::optional(0.02) : first ? std::optional(0.03) : std::nullopt));
  workspace.set_limit({});
  CHECK(fastest_known_seconds(backend, kProblem, 0) == without);
  set_tune_policy({TuneMode::off});
  CHECK_FALSE(fastest_known_seconds(backend, kProblem));
}

TEST_CASE("solver order: a solver must be 5 % faster to replace the first of the list") {
  test::CacheFolder folder("select_near");
  test::WithTunePolicy policy({TuneMode::cached});
  Backend& backend = Device::cpu().backend();
  const std::vector<std::string> untuned = order(backend, kProblem);
  for (const auto& [milliseconds, place] : {std::pair{9.6, 0}, std::pair{9.4, 1}}) {
    std::vector<TuningResult> all;
    for (const std::string& name : untuned) all.push_back({name, 20, 0});
    all[0].milliseconds = 10, all[1].milliseconds = milliseconds;
    remember_tuning(convolution_key(backend, kProblem), all);
    forget_measurements();
    CHECK(order(backend, kProblem)[0] == untuned[static_cast<size_t>(place)]);
  }
}

TEST_CASE("solver order: measurements with other numbers of threads are ignored") {
  test::CacheFolder folder("select_threads");
  test::WithTunePolicy policy({TuneMode::cached});
  Backend& backend = Device::cpu().backend();
  set_thread_count(1);
  const std::vector<std::string> untuned = order(backend, kProblem);
  std::vector<TuningResult> all;
  for (size_t i = 0; i < untuned.size(); ++i)
    all.push_back({untuned[i], 10.0 - static_cast<double>(i), 0});
  remember_tuning(convolution_key(backend, kProblem), all);
  forget_measurements();
  CHECK(order(backend, kProblem)[0] == untuned.back());
  set_thread_count(2);
  CHECK(order(backend, kProblem)[0] == untuned[0]);
  set_thread_count(0);
}

TEST_CASE("tuning: a CPU's OpenCL device has another key with another number of cores") {
  test::for_each_device([](Device device) {
    const DeviceInfo info = device.backend().info();
    const int threads = convolution_key(device.backend(), kProblem).threads;
    CHECK(threads == (info.is_gpu ? 0 : info.compute_units));
    CHECK((info.is_gpu || threads > 0));
  });
}

TEST_CASE("tuning: every applicable solver is measured, results stay right, times are stored") {
  test::CacheFolder folder("select_tune");
  test::WithTunePolicy policy({TuneMode::exhaustive});
  test::for_each_device([&](Device device) {
    Backend& backend = device.backend();
    for (const ConvProblem& p : test::common_conv_cases()) {
      std::set<ConvProblem> met;
      observe_convolutions([&](Backend&, const ConvProblem& problem) { met.insert(problem); });
      for (int i = 0; i < 2; ++i) check_convolution(p, device);
      observe_convolutions({});
      CHECK(met.size() == 3);
      for (const ConvProblem& problem : met) {
        INFO(problem.str());
        std::set<std::string> measured, able;
        for (const TuningResult& result : conv_results(backend, problem)) {
          CHECK(result.milliseconds > 0);
          measured.insert(result.candidate);
        }
        for (const ConvSolver* solver : backend.conv_solvers())
          if (solver->applicable(problem)) able.emplace(solver->name());
        CHECK(measured == able);
      }
      CHECK(all_results_stored());
      set_tune_policy({TuneMode::cached});
      forget_measurements();
      for (const ConvProblem& problem : met) {
        auto results = recall_tuning(convolution_key(backend, problem));
        REQUIRE_FALSE(results.empty());
        const auto best = std::ranges::min_element(results, {}, &TuningResult::milliseconds);
        const std::string runs = order(backend, problem)[0];
        const auto first = std::ranges::find(results, runs, &TuningResult::candidate);
        REQUIRE(first != results.end());
        CHECK(0.95 * first->milliseconds <= best->milliseconds);
      }
      set_tune_policy({TuneMode::exhaustive});
    }
  });
}

TEST_CASE("tuning: hybrid measures a large convolution at once, amortized one trial per call") {
  test::for_each_device([](Device device) {
    Backend& backend = device.backend();
    const Conv2d conv{.padding = {1, 1}};
    const Tensor x = test::random_tensor({4, 32, 56, 56}, 1, device);
    const Tensor filter = test::random_tensor({80, 32, 3, 3}, 2, device);
    const ConvProblem p = conv_problem(x.shape(), filter.shape(), conv);
    REQUIRE(p.flops() > 0.5e9);
    Tensor y({4, 80, 56, 56}, DType::f32, device);
    std::vector<float> expected;
    for (TuneMode mode : {TuneMode::off, TuneMode::cached, TuneMode::hybrid, TuneMode::amortized}) {
      CAPTURE(static_cast<int>(mode));
      test::CacheFolder folder("select_hybrid");
      test::WithTunePolicy policy({mode});
      size_t calls = 0, known = 0;
      for (; calls < 60 && (known == 0 || calls < 3); ++calls) {
        conv2d_into(y, x, filter, conv);
        const std::vector<float> values = y.to_vector();
        if (expected.empty()) expected = values;
        double worst = 0;
        for (size_t i = 0; i < values.size(); ++i)
          worst = std::max<double>(worst, std::abs(values[i] - expected[i]));
        CHECK(worst < 2e-3);  // sums of 288 products of values in -1..1; Winograd's error is 1e-5
        known = conv_results(backend, p).size();
        if (mode == TuneMode::hybrid) CHECK(known > 1);
      }
      if (mode == TuneMode::off || mode == TuneMode::cached) CHECK(known == 0);
      if (mode == TuneMode::amortized) {
        CHECK(known > 1);
        CHECK(calls > 3);
      }
    }
  });
}

TEST_CASE("tuning: amortized computes once per call, and adds once to a gradient") {
  test::for_each_device([](Device device) {
    const Conv2d conv{.padding = {1, 1}};
    const Tensor x = test::random_tensor({4, 32, 56, 56}, 1, device);
    const Tensor filter = test::random_tensor({80, 32, 3, 3}, 2, device);
    const Tensor dy = test::random_tensor({4, 80, 56, 56}, 3, device);
    const auto data = [&] {
      Tensor dx = Tensor::full(x.shape(), 7, device);
      conv2d_backward_data_into(dx, dy, filter, conv);
      return dx.to_vector();
    };
    const auto gradient = [&] {
      Tensor dfilter = Tensor::full(filter.shape(), 100, device);
      conv2d_backward_filter_into(dfilter, x, dy, conv, 1);
      return dfilter.to_vector();
    };
    ConvProblem p = conv_problem(x.shape(), filter.shape(), conv);
    const auto check = [&](ConvDirection direction, const auto& compute) {
      p.direction = direction;
      CAPTURE(p.str());
      test::CacheFolder folder("select_amortized");
      std::vector<float> expected;
      {
        test::WithTunePolicy policy({TuneMode::off});
        expected = compute();
      }
      test::WithTunePolicy policy({TuneMode::amortized});
      int calls = 0;
      for (; calls < 100 && !convolution_is_measured(device.backend(), p); ++calls) {
        const std::vector<float> values = compute();
        double worst = 0, largest = 0;
        for (size_t i = 0; i < values.size(); ++i) {
          worst = std::max<double>(worst, std::abs(values[i] - expected[i]));
          largest = std::max<double>(largest, std::abs(expected[i]));
        }
        CHECK(worst < 1e-4 * largest);
      }
      CHECK(calls > 3);
      CHECK(calls < 100);
    };
    check(ConvDirection::backward_data, data);
    check(ConvDirection::backward_filter, gradient);
  });
}

}  // namespace kaiseki
