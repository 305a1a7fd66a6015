// SPDX-License-Identifier: MIT
// The memory model predicts the bytes that a pass through a network needs. It uses the shapes and
// the lifetimes of the pass's plan.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "nn/execution_plan.h"

namespace kaiseki::nn {

/// The bytes of a step of a pass.
struct StepMemory {
  uint64_t peak = 0;       // the highest sum of bytes during the step
  uint64_t own = 0;        // the tensors and weights that the step reads or writes
  uint64_t piece = 0;      // the smallest piece of the step
  uint64_t out = 0;        // bytes that leave the device for this step
  uint64_t in = 0;         // bytes that left earlier and come back for this step
  bool in_pieces = false;  // its own tensors do not fit
};

/// The room of a pass, and of tensors that may make room for it.
struct MemoryRoom {
  uint64_t bytes = UINT64_MAX;
  bool weights_leave = false;  // `bytes` has room for idle_weight_bytes() too, or for a part of it
  uint64_t slots = 0;          // of `bytes`: tensors that the pass does not use
};

/// Returns the memory of each step of a pass, in the order of the plan's times. Peaks count inputs,
/// values, gradients of values, and saved tensors. Parameters, their gradients and workspace are
/// not included. `rounded` gives the bytes that a tensor takes (Allocator::rounded()). If a step
/// finds no room, tensors that are needed last leave the device, as in Swapping.
std::vector<StepMemory> predict_memory(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                                       const std::function<uint64_t(uint64_t)>& rounded,
                                       const MemoryRoom& room = {});

/// The step with the most bytes of tensors. Scratch memory that it frees does not count.
struct FullestStep {
  struct Droppable {
    size_t value = 0;
    uint64_t bytes = 0;
  };
  uint64_t bytes = 0;
  uint64_t own = 0;  // an upper bound of the step's own bytes, with its weights and gradients
  /// Values that stay, and that their steps can compute again.
  std::vector<Droppable> droppable = {};
};
FullestStep find_fullest_step(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                              const std::function<uint64_t(uint64_t)>& rounded);

/// The bytes of all weights, and of their gradients, that can leave the device.
uint64_t idle_weight_bytes(const Graph& graph, const std::function<uint64_t(uint64_t)>& rounded,
                           uint64_t smallest);

/// The highest peak of predict_memory().
uint64_t predict_peak(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                      const std::function<uint64_t(uint64_t)>& rounded);

/// The number of equal parts in which a minibatch must run, so that a pass fits `room` bytes. 1 if
/// the plan has a layer that couples the samples of a batch.
int64_t parts_that_fit(const Graph& graph, const ExecutionPlan& plan, int64_t batch, uint64_t room,
                       const std::function<uint64_t(uint64_t)>& rounded);

/// Returns `batch` if its pass needs at most `room` bytes. Otherwise returns the most samples whose
/// pass needs at most three quarters of `room`, and at least one sample. The last quarter is for
/// the workspace of convolutions.
int64_t samples_that_fit(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                         uint64_t room, const std::function<uint64_t(uint64_t)>& rounded);

}  // namespace kaiseki::nn
