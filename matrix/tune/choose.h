// SPDX-License-Identifier: MIT
// The steps that every choice by time shares. They find the unmeasured candidates, time one of
// them, and order the measured ones. Convolutions and matrix products both use them.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "matrix/backend/backend.h"
#include "matrix/tensor.h"
#include "matrix/tune/case.h"
#include "matrix/tune/trials.h"

namespace kaiseki {

/// The time of a candidate, and whether the candidate fails.
struct CandidateTime {
  std::optional<double> milliseconds{};  // set if it was timed
  bool fails = false;
};

/// Returns the indices of the candidates, the fastest first. Untimed ones follow in their order,
/// then those that fail. Another candidate comes before `favored` only if it takes less than 95 %
/// of its time. Smaller differences may change with the next measurement.
std::vector<size_t> by_speed(const std::vector<CandidateTime>& candidates,
                             std::optional<size_t> favored);

/// Returns whether the candidate has a result, or was tried without one.
bool is_tried(const TuneCase& known, std::string_view candidate);

/// Returns the results of the trials. `subjects` gives the names and the workspaces.
std::vector<TuningResult> results_of(const Trials& trials,
                                     const std::vector<TuningResult>& subjects);

/// Runs the work on an idle device and waits for it.
double milliseconds_of(Backend& backend, const std::function<void()>& work);

/// Sets all elements to NaN, so that a check finds elements that a candidate does not write.
void set_nan(Tensor& t);

}  // namespace kaiseki
