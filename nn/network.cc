// SPDX-License-Identifier: MIT
#include "nn/network.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/room.h"
#include "matrix/ops/copy.h"
#include "nn/memory_model.h"
#include "nn/network_impl.h"
#include "nn/optimizer.h"
#include "nn/parse_network.h"

namespace kaiseki::nn {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 31;
/// A read takes the time of about 20 multiply-adds of a convolution: 5 to 50 were measured.
constexpr double kOperationsOfRead = 20;

std::vector<LayerSummary> layers_of(const Graph& graph) {
  std::vector<LayerSummary> result;
  for (const GraphNode& node : graph.nodes) {
    if (node.hidden) continue;
    LayerSummary row{.name = node.name, .type = node.type, .output = node.shape.output};
    for (const LayerShape::ParameterSpec& parameter : node.shape.parameters)
      row.parameters += parameter.shape.elements();
    row.multiply_adds = node.shape.multiply_adds;
    row.operations =
        static_cast<double>(row.multiply_adds) + kOperationsOfRead * node.shape.window_reads;
    for (const int input : node.inputs)
      row.operations += static_cast<double>(graph.shape_of(input).elements());
    row.convolution = node.shape.convolution;
    row.activation_bytes = static_cast<uint64_t>(row.output.elements()) * sizeof(float);
    result.push_back(std::move(row));
  }
  return result;
}

}  // namespace

NetworkSummary summarize(const std::string& file) {
  const ByteVector bytes = read_file(file, kMaxFile);
  return summarize(parse_network(as_text(bytes), file));
}

NetworkSummary summarize(NetworkSpec spec) {
  const Graph graph = build_graph(std::move(spec));
  return {graph.spec.name, graph.spec.inputs[0].shape, graph.shape_of(graph.outputs[0].value),
          layers_of(graph)};
}

Network::Network(std::unique_ptr<NetworkImpl> impl) : impl_(std::move(impl)) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Network Network::load(const std::string& file, Device device) {
  const ByteVector bytes = read_file(file, kMaxFile);
  return parse(as_text(bytes), file, device);
}

Network Network::parse(std::string_view json, std::string_view source, Device device) {
  return build(parse_network(json, source), device);
}

Network Network::build(NetworkSpec spec, Device device) {
  auto impl = std::make_unique<NetworkImpl>();
  impl->graph = build_graph(std::move(spec));
  impl->device = device;
  impl->allocate();
  Network network(std::move(impl));
  network.initialize(0);
  network.impl_->load_inline_weights();
  return network;
}

const std::string& Network::name() const { return impl_->graph.spec.name; }
const Recipe& Network::recipe() const { return spec().recipe; }
bool Network::has_weights() const { return impl_->has_weights; }
const Metadata& Network::metadata() const { return impl_->graph.spec.metadata; }
Device Network::device() const { return impl_->device; }
Shape Network::input_shape() const { return impl_->graph.spec.inputs[0].shape; }
Shape Network::output_shape() const { return impl_->graph.shape_of(impl_->graph.outputs[0].value); }

std::vector<std::string> Network::input_names() const {
  std::vector<std::string> names;
  for (const InputSpec& input : impl_->graph.spec.inputs) names.push_back(input.name);
  return names;
}

std::vector<std::string> Network::output_names() const {
  std::vector<std::string> names;
  for (const Graph::NamedOutput& output : impl_->graph.outputs) names.push_back(output.name);
  return names;
}

bool Network::outputs_logits() const {
  const Graph& graph = impl_->graph;
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const GraphNode& node) {
    return node.type == "softmax_cross_entropy" && node.inputs[0] == graph.outputs[0].value;
  });
}

void Network::initialize(uint64_t seed) {
  impl_->seed = seed;
  impl_->random_step = 0;
  impl_->last.reset();
  IdleTensors idle(impl_->device);
  impl_->add_weights(idle);
  for (const GraphNode& node : impl_->graph.nodes) {
    std::span<Parameter> parameters = impl_->parameters_of(node);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const LayerShape::ParameterSpec& of = node.shape.parameters[i];
      copy_into(parameters[i].value, draw(of.initializer, of.shape, of.fan_in, of.fan_out,
                                          Random(seed, random_stream(parameters[i].name, 0))));
    }
    std::span<State> states = impl_->states_of(node);
    for (size_t i = 0; i < states.size(); ++i) fill(states[i].value, node.shape.states[i].value);
  }
}

Tensor Network::forward(const Tensor& x, Phase phase) {
  const Graph& graph = impl_->graph;
  forward(std::map<std::string, Tensor>{{graph.spec.inputs[0].name, x}}, phase);
  return impl_->last->values[static_cast<size_t>(impl_->last->plan->outputs[0])];
}

std::map<std::string, Tensor> Network::forward(const std::map<std::string, Tensor>& inputs,
                                               Phase phase) {
  const Graph& graph = impl_->graph;
  ForwardRun run{.inputs = impl_->prepare(inputs)};
  impl_->last.reset();
  run.batch = run.inputs[0].dim(0);
  run.plan = &impl_->fitting_plan(
      {.phase = phase, .backward = phase == Phase::train, .input_gradients = phase == Phase::train},
      run.batch);
  run.random_step = impl_->random_step;
  run.first_sample = impl_->first_sample;
  if (phase == Phase::train) ++impl_->random_step;
  impl_->forward(run);
  std::map<std::string, Tensor> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    outputs[graph.outputs[i].name] = run.values[static_cast<size_t>(run.plan->outputs[i])];
  impl_->last = std::move(run);
  return outputs;
}

Network::Loss Network::forward_loss(const Tensor& x, const Tensor& targets, Phase phase,
                                    bool input_gradient) {
  const bool train = phase == Phase::train;
  ForwardRun run{.inputs = impl_->prepare({{impl_->graph.spec.inputs[0].name, x}}),
                 .targets = impl_->on_device(targets)};
  impl_->last.reset();
  run.batch = run.inputs[0].dim(0);
  run.plan = &impl_->fitting_plan({.phase = phase,
                                   .loss = true,
                                   .backward = train || input_gradient,
                                   .input_gradients = input_gradient},
                                  run.batch);
  run.random_step = impl_->random_step;
  run.first_sample = impl_->first_sample;
  if (train) ++impl_->random_step;
  impl_->forward(run);
  Loss result{impl_->total_loss(run), {}};
  if (!result.loss.defined())
    throw Error(message("network", "expected a loss, or an output of shape [classes], got ",
                        output_shape()));
  const ExecutionPlan& plan = *run.plan;
  result.output = plan.folded_loss ? run.saved[*plan.folded_loss][0]
                                   : run.values[static_cast<size_t>(plan.outputs[0])];
  impl_->last = std::move(run);
  return result;
}

Tensor Network::backward(double scale) {
  ForwardRun run = impl_->take_last(true);
  run.scale = scale;
  return impl_->backward(run, {})[0];
}

Tensor Network::backward(const Tensor& grad_output) {
  ForwardRun run = impl_->take_last(false);
  const auto output = static_cast<size_t>(run.plan->outputs[0]);
  require(grad_output.shape() == run.values[output].shape(), "backward",
          "expected a gradient of shape ", run.values[output].shape(), ", got ",
          grad_output.shape());
  std::vector<Tensor> seeds(run.values.size());
  seeds[output] = impl_->on_device(grad_output);
  return impl_->backward(run, std::move(seeds))[0];
}

void Network::zero_grad() {
  if (std::exchange(impl_->gradients.momentum, 0.0f) != 0) impl_->gradients.values.clear();
  impl_->make_gradients();
  impl_->begin_gradients();
}

void Network::zero_grad(Optimizer& optimizer) {
  if (!optimizer.use_velocity_as_gradients(impl_->parameters, impl_->gradients)) return zero_grad();
  impl_->begin_gradients();
}

int64_t Network::parts_of_batch(int64_t batch, Phase phase) {
  const bool train = phase == Phase::train;
  const std::optional<DeviceRoom> room = impl_->room(train);
  if (!room || out_of_core() == OutOfCore::off) return 1;
  const ExecutionPlan& plan = impl_->plan({.phase = phase, .loss = true, .backward = train});
  return parts_on_device(impl_->graph, plan, batch, *room, impl_->device);
}

PassPrediction Network::predict_pass(int64_t batch) {
  return impl_->predict_pass({.phase = Phase::train, .loss = true, .backward = true}, batch);
}

std::optional<double> Network::predict_seconds(int64_t batch) {
  return impl_->predict_seconds({.phase = Phase::train, .loss = true, .backward = true}, batch);
}

void Network::set_gradient_hook(GradientHook ready) { impl_->gradient_hook = std::move(ready); }

void Network::set_factor_gathering(GatherOverMachines gather) {
  impl_->gather_factors = std::move(gather);
}

void Network::set_statistics_sum(SumOverMachines sum) { impl_->statistics_sum = std::move(sum); }

void Network::set_layer_timer(LayerTimer timer) { impl_->timer = std::move(timer); }

std::span<Parameter> Network::parameters() { return impl_->parameters; }
Gradients& Network::gradients() {
  impl_->make_gradients();
  impl_->write_all_pending();
  return impl_->gradients;
}
void Network::add_weights(IdleTensors& idle) const { impl_->add_weights(idle); }
void Network::add_slots(const Optimizer& optimizer, IdleTensors& idle) const {
  optimizer.add_slots(idle, impl_->gradients);
}
std::span<State> Network::states() { return impl_->states; }
uint64_t Network::seed() const { return impl_->seed; }
void Network::set_first_sample(int64_t first) { impl_->first_sample = first; }
uint64_t Network::random_position() const { return impl_->random_step; }
void Network::set_random_position(uint64_t position) { impl_->random_step = position; }

std::vector<LayerSummary> Network::summary() const { return layers_of(impl_->graph); }

const NetworkSpec& Network::spec() const { return impl_->graph.spec; }

std::string Network::json() const { return format_json(to_json(impl_->graph.spec)); }

}  // namespace kaiseki::nn
