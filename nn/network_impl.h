// SPDX-License-Identifier: MIT
// NetworkImpl: the graph of a network, its parameters, its plans and its last forward pass.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "matrix/memory/idle_tensors.h"
#include "nn/execution_plan.h"
#include "nn/forward_run.h"
#include "nn/gather_over_machines.h"
#include "nn/gradient_hook.h"
#include "nn/graph.h"
#include "nn/layer_timer.h"
#include "nn/pass_prediction.h"
#include "nn/recomputation.h"
#include "nn/sum_over_machines.h"
#include "nn/swapping.h"

namespace kaiseki::nn {

/// Plans are fitted once for each size of a minibatch and each sixteenth of the budget.
struct FittedKey {
  const ExecutionPlan* whole;
  int64_t batch;
  uint64_t budget;       // 0 if there is none
  uint64_t room, slots;  // in sixteenths of the budget
  auto operator<=>(const FittedKey&) const = default;
};

struct NetworkImpl {
  Graph graph;
  Device device;
  uint64_t seed = 0;
  uint64_t random_step = 0;
  int64_t first_sample = 0;
  std::vector<Parameter> parameters;
  Gradients gradients;
  std::vector<char> pending;  // by parameter: its gradient is momentum * value, not computed yet
  std::vector<State> states;
  std::map<int, ExecutionPlan> plans;
  std::map<FittedKey, FittedPlan> fitted;
  std::map<const ExecutionPlan*, SwapHistory> swaps;
  std::optional<ForwardRun> last;
  bool has_weights = false;
  LayerTimer timer;  // empty: no times are reported
  GradientHook gradient_hook;
  SumOverMachines statistics_sum;     // empty: statistics of this machine
  GatherOverMachines gather_factors;  // empty: gradients of this machine

  const ExecutionPlan& plan(const ExecutionPlanOptions& options);
  /// nullptr if the device has no limit, or no backward pass follows.
  const FittedPlan* fitted_plan(const ExecutionPlanOptions& options, int64_t batch);
  /// The plan for a minibatch of this size. If a pass needs more memory than the device has, some
  /// values are computed again.
  const ExecutionPlan& fitting_plan(const ExecutionPlanOptions& options, int64_t batch);
  PassPrediction predict_pass(const ExecutionPlanOptions& options, int64_t batch);
  std::optional<double> predict_seconds(const ExecutionPlanOptions& options, int64_t batch);
  uint64_t input_bytes(int64_t batch) const;
  /// Returns nothing if there is no limit. `backward`: counts gradients that do not exist yet.
  std::optional<DeviceRoom> room(bool backward) const;
  FittedPlan fit(const ExecutionPlan& whole, int64_t batch, const DeviceRoom& room) const;
  PassLimits limits_of(const FittedPlan& fits, int64_t batch) const;
  std::optional<double> bound(const FittedPlan& fits, const ExecutionPlanOptions& options,
                              int64_t batch);
  std::span<Parameter> parameters_of(const GraphNode& node);
  std::span<State> states_of(const GraphNode& node);
  /// Keeps the weights of a node on the device.
  std::vector<BufferHold> hold_weights(const GraphNode& node) const;
  std::vector<SwappableWeight> swappable_weights(const ExecutionPlan& plan) const;
  /// For Network's operations besides passes: adds the weights and their gradients.
  void add_weights(IdleTensors& idle) const;
  void allocate();
  void load_inline_weights();
  void load_inline(const LayerSpec& layer, InlineWeights& weights, Tensor& to);
  void make_gradients();
  /// Sets all gradients to momentum * value, without writing them yet.
  void begin_gradients() { pending.assign(parameters.size(), 1); }
  void write_pending(size_t first, size_t count);
  void write_all_pending();

  /// Copies a tensor of a program to the device if it is elsewhere. Weights make room.
  Tensor on_device(const Tensor& tensor) const;
  /// If `run` finds no memory, the error names the layer. WebAssembly leaves this out.
  template <class Run>
  auto naming_step(const PlanStep& step, const char* pass, const Run& run) const {
    if constexpr (!kHasDevices) return run();
    try {
      return run();
    } catch (const OutOfMemory& error) {
      throw OutOfMemory(error, text_from("the ", pass, " step of layer ",
                                         graph.nodes[static_cast<size_t>(step.node)].name));
    }
  }
  std::vector<Tensor> prepare(const std::map<std::string, Tensor>& inputs) const;
  void forward(ForwardRun& run);
  Tensor total_loss(const ForwardRun& run) const;
  /// Computes the output of a step. `again`: in a backward pass, without saving anything.
  Tensor run_step(ForwardRun& run, size_t step, bool again);
  /// Computes a freed value again, in a backward pass.
  void recompute(ForwardRun& run, int value);
  /// Goes back through the steps, from the gradients of some values. Returns the gradients of the
  /// inputs if the plan has input_gradients.
  std::vector<Tensor> backward(ForwardRun& run, std::vector<Tensor> seeds);
  /// The last forward pass. If it kept nothing for a backward pass, it runs again.
  ForwardRun take_last(bool loss);
};

}  // namespace kaiseki::nn
