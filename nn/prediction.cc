// SPDX-License-Identifier: MIT
#include "nn/prediction.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "matrix/ceil_div.h"
#include "matrix/memory/allocator.h"
#include "nn/memory_model.h"
#include "nn/parse_network.h"
#include "nn/piece_times.h"
#include "nn/planner.h"
#include "nn/recomputation.h"

namespace kaiseki::nn {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 31;

uint64_t parameter_bytes(const Graph& graph) {
  int64_t elements = 0;
  for (const GraphNode& node : graph.nodes)
    for (const LayerShape::ParameterSpec& one : node.shape.parameters)
      elements += one.shape.elements();
  return 2 * sizeof(float) * static_cast<uint64_t>(elements);
}

/// Describes by layers how `fitted` differs from `whole`. `parts`: the passes of a training step.
std::map<std::string, LayerPrediction> layers_of(const Graph& graph, const ExecutionPlan& whole,
                                                 const FittedPlan& fitted, int64_t parts,
                                                 const PassLimits& limits) {
  const std::vector<StepMemory> steps =
      predict_memory(graph, fitted.plan, limits.batch, limits.rounded,
                     {.bytes = limits.room, .weights_leave = limits.rates.link.has_value()});
  const std::vector<StepTime> times =
      step_times(graph, fitted.plan, limits.batch, limits.rates, limits.known_seconds);
  const auto passes = static_cast<uint64_t>(parts);
  PieceTimes pieces(graph, limits, times);
  std::map<std::string, LayerPrediction> layers;
  for (size_t i = 0; i < fitted.plan.steps.size(); ++i) {
    const PlanStep& step = fitted.plan.steps[i];
    LayerPrediction& layer = layers[graph.nodes[static_cast<size_t>(step.node)].name];
    const StepTime& time = times[i];
    layer.again = step.recomputed && !whole.steps[i].recomputed;
    double seconds = step.recomputed ? time.forward : 0;
    for (const size_t at : {fitted.plan.forward_time(i), fitted.plan.backward_time(i)}) {
      layer.out += passes * steps[at].out;
      layer.in += passes * steps[at].in;
      if (steps[at].in_pieces) {
        const StepPieces found = pieces.of(fitted.plan, at, steps[at]);
        layer.pieces = std::max(layer.pieces, found.count);
        seconds += found.seconds;
      } else {
        seconds += at < fitted.plan.steps.size() ? time.forward : time.backward;
      }
    }
    layer.seconds = static_cast<double>(parts) * seconds;
    // The layer that made the output before it was fused.
    layers[graph.nodes[static_cast<size_t>(graph.producer_of(step.output))].name].again |=
        layer.again;
  }
  return layers;
}

}  // namespace

TrainingPrediction predict_training(const std::string& file, int64_t batch, uint64_t memory,
                                    Device device) {
  const ByteVector bytes = read_file(file, kMaxFile);
  const Graph graph = build_graph(parse_network(as_text(bytes), file));
  const ExecutionPlan whole =
      make_execution_plan(graph, {.phase = Phase::train, .loss = true, .backward = true});
  const auto is_loss = [&](const PlanStep& step) {
    return graph.nodes[static_cast<size_t>(step.node)].layer->is_loss();
  };
  if (std::ranges::none_of(whole.steps, is_loss))
    throw Error(message("memory", "expected a network with a loss, got none in ", file));
  const Allocator& allocator = device.memory();
  const auto rounded = [&](uint64_t size) { return allocator.rounded(size); };
  TrainingPrediction result{.parameters = parameter_bytes(graph),
                            .in_core = predict_peak(graph, whole, batch, rounded)};
  const uint64_t weights = device_weights(graph, device);
  const uint64_t stays = result.parameters - std::min(result.parameters, weights);
  const DeviceRoom room{.bytes = memory - std::min(memory, stays), .weights = weights};
  if (room.bytes == 0)
    throw Error(message("memory", "expected more memory than the ", format_bytes(stays),
                        " of the parameters, got ", format_bytes(memory)));
  result.parts = parts_on_device(graph, whole, batch, room, device);
  PassLimits limits{
      .batch = batch, .room = UINT64_MAX, .rates = device_rates(device), .rounded = rounded};
  limits.known_seconds = known_seconds(device);
  result.seconds_in_core = pass_seconds(graph, whole, limits);
  const FittedPlan fitted =
      fit_to_device(graph, whole, ceil_div(batch, result.parts), room, device);
  result.peak = fitted.on_device;
  result.leaves = fitted.leaves;
  result.in_pieces = fitted.in_pieces;
  result.missing = fitted.missing;
  result.seconds =
      fitted.seconds ? static_cast<double>(result.parts) * *fitted.seconds : result.seconds_in_core;
  if (result.parts == 1) result.bound = fitted.bound;
  limits.batch = ceil_div(batch, result.parts);
  if (limits.rates.link) limits.room = fitted.room;
  if (fitted.seconds) limits.known_seconds = known_seconds_beside(fitted.room, device);
  result.layers = layers_of(graph, whole, fitted, result.parts, limits);
  return result;
}

}  // namespace kaiseki::nn
