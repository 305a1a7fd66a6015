// SPDX-License-Identifier: MIT
#include "nn/network_impl.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "matrix/has_devices.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/room.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "nn/memory_model.h"
#include "nn/plan_bound.h"
#include "nn/planner.h"
#include "nn/sukiyaki_values.h"

namespace kaiseki::nn {
namespace {

constexpr uint64_t kStep = uint64_t{1} << 30;  // bytes of room, without a budget

}  // namespace

const ExecutionPlan& NetworkImpl::plan(const ExecutionPlanOptions& options) {
  const int key = (options.phase == Phase::train) | options.loss << 1 | options.backward << 2 |
                  options.input_gradients << 3;
  auto at = plans.find(key);
  if (at == plans.end()) at = plans.emplace(key, make_execution_plan(graph, options)).first;
  return at->second;
}

uint64_t NetworkImpl::input_bytes(int64_t batch) const {
  int64_t elements = 0;
  for (const InputSpec& input : graph.spec.inputs) elements += input.shape.elements();
  return static_cast<uint64_t>(batch * elements) * sizeof(float);
}

/// Evictors of this thread may have other tensors, which a pass does not use.
std::optional<DeviceRoom> NetworkImpl::room(bool backward) const {
  const std::optional<uint64_t> free = room_for_tensors(device);
  if (!free) return {};
  if (!kHasDevices) return DeviceRoom{.bytes = *free};
  IdleTensors idle(device);
  add_weights(idle);
  IdleBuffers weights;
  idle.add_idle(weights);
  const IdleBytes all = device.memory().idle_bytes();
  uint64_t bytes = 0;
  for (const auto& [buffer, of_weight] : weights) bytes += of_weight.all;
  return DeviceRoom{.bytes = *free + all.on_device,
                    .weights = backward ? device_weights(graph, device) : bytes,
                    .slots = all.all - bytes};
}

const FittedPlan* NetworkImpl::fitted_plan(const ExecutionPlanOptions& options, int64_t batch) {
  // WebAssembly leaves out the search. Its only limit is that of the system.
  if (!kHasDevices || !options.backward || out_of_core() == OutOfCore::off) return nullptr;
  std::optional<DeviceRoom> free = room(true);
  if (!free) return nullptr;
  const ExecutionPlan& whole = plan(options);
  free->bytes += input_bytes(batch);  // the inputs are on the device already
  const uint64_t budget = device.memory().account().budget;
  const uint64_t unit = std::max<uint64_t>(1, budget ? budget / 16 : kStep);
  const FittedKey key{&whole, batch, budget, free->bytes / unit, free->slots / unit};
  auto at = fitted.find(key);
  if (at == fitted.end()) at = fitted.emplace(key, fit(whole, batch, *free)).first;
  return &at->second;
}

const ExecutionPlan& NetworkImpl::fitting_plan(const ExecutionPlanOptions& options, int64_t batch) {
  const FittedPlan* fits = fitted_plan(options, batch);
  return fits ? fits->plan : plan(options);
}

PassPrediction NetworkImpl::predict_pass(const ExecutionPlanOptions& options, int64_t batch) {
  if (const FittedPlan* fits = fitted_plan(options, batch))
    return {.on_device = fits->on_device,
            .leaves = fits->leaves,
            .is_out_of_core = fits->leaves != 0 || fits->in_pieces != 0,
            .bound = fits->bound ? bound(*fits, options, batch) : std::nullopt};
  return {.on_device = predict_peak(graph, plan(options), batch, [&](uint64_t bytes) {
            return device.memory().rounded(bytes);
          })};
}

/// The limits of a plan, with the tuner's present times. The tuner may have measured convolutions
/// after the plan was chosen.
PassLimits NetworkImpl::limits_of(const FittedPlan& fits, int64_t batch) const {
  return {.batch = batch,
          .room = fits.room,
          .slots = fits.slots,
          .rates = device_rates(device),
          .rounded = [this](uint64_t bytes) { return device.memory().rounded(bytes); },
          .known_seconds = known_seconds_beside(fits.room, device)};
}

std::optional<double> NetworkImpl::bound(const FittedPlan& fits,
                                         const ExecutionPlanOptions& options, int64_t batch) {
  const PassLimits limits = limits_of(fits, batch);
  const ExecutionPlan& whole = plan(options);
  return bound_of_plans(graph, whole, limits,
                        step_times(graph, whole, batch, limits.rates, limits.known_seconds));
}

std::optional<double> NetworkImpl::predict_seconds(const ExecutionPlanOptions& options,
                                                   int64_t batch) {
  const FittedPlan* fits = fitted_plan(options, batch);
  if (!kHasDevices || !fits || !fits->seconds) return {};
  return pass_seconds(graph, fits->plan, limits_of(*fits, batch));
}

FittedPlan NetworkImpl::fit(const ExecutionPlan& whole, int64_t batch,
                            const DeviceRoom& room) const {
  FittedPlan fitted = fit_to_device(graph, whole, batch, room, device);
  const auto again = std::ranges::count_if(fitted.plan.steps, &PlanStep::recomputed) -
                     std::ranges::count_if(whole.steps, &PlanStep::recomputed);
  std::string what;
  if (again != 0)
    what += "; the backward pass computes " + std::to_string(again) + " tensors again";
  if (fitted.leaves != 0)
    what += "; " + format_bytes(fitted.leaves) + " leave the device for a while";
  if (fitted.in_pieces != 0)
    what += "; " + std::to_string(fitted.in_pieces) +
            (fitted.in_pieces == 1 ? " step runs in pieces" : " steps run in pieces");
  if (!what.empty() && fitted.missing == 0)  // otherwise an error is likely to follow
    log_warning_once("fitted pass", "a pass needs more memory than the " +
                                        format_bytes(room.bytes) + " for its tensors" +
                                        (room.weights ? " and weights" : "") + what);
  return fitted;
}

std::span<Parameter> NetworkImpl::parameters_of(const GraphNode& node) {
  return {parameters.data() + node.first_parameter, node.shape.parameters.size()};
}

std::span<State> NetworkImpl::states_of(const GraphNode& node) {
  return {states.data() + node.first_state, node.shape.states.size()};
}

std::vector<BufferHold> NetworkImpl::hold_weights(const GraphNode& node) const {
  std::vector<BufferHold> holds;
  for (size_t k = 0; k < node.shape.parameters.size(); ++k)
    holds.emplace_back(parameters[node.first_parameter + k].value.buffer());
  return holds;
}

std::vector<SwappableWeight> NetworkImpl::swappable_weights(const ExecutionPlan& plan) const {
  std::vector<std::optional<size_t>> steps(graph.nodes.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) steps[static_cast<size_t>(plan.steps[i].node)] = i;
  std::vector<SwappableWeight> all;
  all.reserve(2 * parameters.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode& node = graph.nodes[n];
    const bool returns = steps[n] && plan.options.backward && plan.steps[*steps[n]].needs_backward;
    const size_t after = 2 * plan.steps.size() + n;
    const size_t forward = steps[n] ? plan.forward_time(*steps[n]) : after;
    const size_t backward = returns ? plan.backward_time(*steps[n]) : after;
    const size_t again = returns ? plan.again_time(*steps[n]) : after;
    const std::array of_weight = {forward, again, backward, after};
    const std::array of_gradient = {backward, after, after, after};
    for (size_t k = node.first_parameter; k < node.first_parameter + node.shape.parameters.size();
         ++k) {
      all.push_back({&parameters[k].value, of_weight});
      if (k < gradients.values.size()) all.push_back({&gradients.values[k], of_gradient});
    }
  }
  return all;
}

void NetworkImpl::add_weights(IdleTensors& idle) const {
  for (size_t k = 0; k < parameters.size(); ++k) {
    idle.add(parameters[k].value);
    if (k < gradients.values.size()) idle.add(gradients.values[k]);
  }
}

void NetworkImpl::allocate() {
  IdleTensors idle(device);
  for (GraphNode& node : graph.nodes) {
    node.first_parameter = parameters.size();
    node.first_state = states.size();
    for (const LayerShape::ParameterSpec& of : node.shape.parameters) {
      parameters.push_back(
          {node.name + "." + of.name, Tensor(of.shape, DType::f32, device), of.decay});
      idle.add(parameters.back().value);
    }
    for (const LayerShape::StateSpec& of : node.shape.states)
      states.push_back({node.name + "." + of.name, Tensor(of.shape, DType::f32, device)});
  }
  pending.assign(parameters.size(), 0);
}

void NetworkImpl::load_inline_weights() {
  IdleTensors idle(device);
  add_weights(idle);
  has_weights = std::exchange(graph.spec.has_weights, false);
  for (size_t i = 0; i < graph.spec.layers.size(); ++i) {
    LayerSpec& layer = graph.spec.layers[i];
    for (InlineWeights& weights : layer.weights) {
      const std::string name = layer.name + "." + weights.parameter;
      for (Parameter& parameter : parameters_of(graph.nodes[i]))
        if (parameter.name == name) load_inline(layer, weights, parameter.value);
      for (State& state : states_of(graph.nodes[i]))
        if (state.name == name) load_inline(layer, weights, state.value);
    }
    layer.weights.clear();
  }
}

void NetworkImpl::load_inline(const LayerSpec& layer, InlineWeights& weights, Tensor& to) {
  std::vector<float>& values = weights.values;
  const Shape& shape = to.shape();
  const size_t found = values.size();
  if (shape.rank() == 1 && found > static_cast<size_t>(shape[0]))
    bias_per_channel(values, static_cast<size_t>(shape[0]));
  if (static_cast<int64_t>(values.size()) != shape.elements())
    throw ParseError(graph.spec.source, weights.path,
                     "layer " + layer.name + ": expected " + std::to_string(shape.elements()) +
                         " values for " + weights.parameter + " " + shape.str() + ", got " +
                         std::to_string(found));
  copy_into(to, Tensor::from(std::span<const float>(values), shape, Device::cpu()));
  has_weights = true;
}

void NetworkImpl::make_gradients() {
  IdleTensors idle(device);
  add_weights(idle);
  gradients.values.resize(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!gradients.values[i].defined()) {
      gradients.values[i] = Tensor::zeros(parameters[i].value.shape(), DType::f32, device);
      idle.add(gradients.values[i]);
    }
}

void NetworkImpl::write_all_pending() {
  IdleTensors idle(device);
  add_weights(idle);
  write_pending(0, parameters.size());
}

void NetworkImpl::write_pending(size_t first, size_t count) {
  for (size_t i = first; i < first + count; ++i) {
    if (!std::exchange(pending[i], 0)) continue;
    if (gradients.momentum == 0)
      fill(gradients.values[i], 0);
    else
      update("g = m*g", {{"g", gradients.values[i]}, {"m", gradients.momentum}});
  }
}

std::vector<Tensor> NetworkImpl::prepare(const std::map<std::string, Tensor>& inputs) const {
  std::vector<Tensor> result;
  require(inputs.size() == graph.spec.inputs.size(), "network", "expected ",
          graph.spec.inputs.size(), " inputs, got ", inputs.size());
  for (const InputSpec& input : graph.spec.inputs) {
    auto at = inputs.find(input.name);
    if (at == inputs.end())
      throw Error(message("network", "expected an input named ", input.name, ", got none"));
    const Tensor& x = at->second;
    require(x.defined(), "network", "expected a tensor as input ", input.name, ", got none");
    require(x.dtype() == DType::f32 && x.rank() >= 1, "network",
            "expected f32 of shape [n, ...] as input ", input.name, ", got ", dtype_name(x.dtype()),
            " of shape ", x.shape());
    Shape wanted = {x.dim(0)};
    for (int64_t dim : input.shape) wanted.push_back(dim);
    const bool flat = input.shape.rank() == 1 && x.size() == wanted.elements();
    require(x.shape() == wanted || flat, "network", "expected input ", input.name, " of shape [n, ",
            input.shape.str().substr(1), ", got ", x.shape());
    require(result.empty() || x.dim(0) == result[0].dim(0), "network",
            "expected inputs of one batch size, got ", x.dim(0), " and ",
            result.empty() ? 0 : result[0].dim(0));
    const Tensor here = on_device(x);
    result.push_back(flat ? here.reshape(wanted) : here);
  }
  return result;
}

Tensor NetworkImpl::on_device(const Tensor& tensor) const {
  IdleTensors idle(device);
  add_weights(idle);
  return tensor.to(device).contiguous();
}

ForwardRun NetworkImpl::take_last(bool loss) {
  if (!last || last->plan->options.loss != loss)
    throw Error(message("backward", "expected a call of ", loss ? "forward_loss()" : "forward()",
                        " before it, got none"));
  ForwardRun run = std::move(*last);
  last.reset();
  make_gradients();
  ExecutionPlanOptions options = run.plan->options;
  if (options.backward) return run;
  options.backward = true;
  options.input_gradients = !loss;
  run.plan = &fitting_plan(options, run.batch);
  forward(run);
  return run;
}

}  // namespace kaiseki::nn
