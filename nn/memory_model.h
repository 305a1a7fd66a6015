// SPDX-License-Identifier: MIT
// The memory model: predicts the bytes that a pass through a network needs, from the shapes and the
// lifetimes of its plan.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "nn/planner.h"

namespace kaiseki::nn {

/// By time of the plan: the highest sum of bytes in a step of a pass with `batch` samples. Counts
/// inputs, values, gradients of values, and what layers save. Parameters, their gradients and
/// workspace are not included. `rounded` gives the bytes that a tensor takes
/// (Allocator::rounded()).
std::vector<uint64_t> predict_memory(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                                     const std::function<uint64_t(uint64_t)>& rounded);

/// The highest of predict_memory().
uint64_t predict_peak(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                      const std::function<uint64_t(uint64_t)>& rounded);

/// The parts of equal size in which a minibatch must run, so that a pass fits `room` bytes. 1 if
/// the plan has a layer that couples the samples of a batch.
int64_t parts_that_fit(const Graph& graph, const ExecutionPlan& plan, int64_t batch, uint64_t room,
                       const std::function<uint64_t(uint64_t)>& rounded);

/// `batch` if its pass needs at most `room` bytes. Otherwise the most samples whose pass needs
/// three quarters of `room`, at least one. The last quarter is for the workspace of convolutions.
int64_t samples_that_fit(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                         uint64_t room, const std::function<uint64_t(uint64_t)>& rounded);

}  // namespace kaiseki::nn
