// SPDX-License-Identifier: MIT
#include "matrix/tune/choose.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/copy.h"

namespace kaiseki {
namespace {

constexpr double kWorthChanging = 0.95;

}  // namespace

std::vector<size_t> by_speed(const std::vector<CandidateTime>& candidates,
                             std::optional<size_t> favored) {
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) {
    const CandidateTime& c = candidates[i];
    return std::tuple(!c.milliseconds, c.fails,
                      c.milliseconds.value_or(0) * (i == favored ? kWorthChanging : 1));
  });
  return order;
}

bool is_tried(const TuneCase& known, std::string_view candidate) {
  return known.find(candidate) || known.tried.contains(candidate);
}

std::vector<TuningResult> results_of(const Trials& trials,
                                     const std::vector<TuningResult>& subjects) {
  std::vector<TuningResult> results;
  for (size_t i = 0; i < subjects.size(); ++i)
    if (auto result = trials.result(i)) {
      result->candidate = subjects[i].candidate;
      result->workspace = subjects[i].workspace;
      results.push_back(*std::move(result));
    }
  return results;
}

double milliseconds_of(Backend& backend, const std::function<void()>& work) {
  backend.synchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  backend.synchronize();
  return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void set_nan(Tensor& t) { run_operation(kFill, t, {&t, std::numeric_limits<float>::quiet_NaN()}); }

}  // namespace kaiseki
