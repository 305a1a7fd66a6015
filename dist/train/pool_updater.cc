// SPDX-License-Identifier: MIT
#include "dist/train/pool_updater.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/median.h"
#include "dist/train/training_memory.h"
#include "matrix/ceil_div.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "nn/train/diverged.h"
#include "nn/train/network_batch.h"

namespace kaiseki::dist {
namespace {

using nn::Network;
using nn::Phase;

constexpr size_t kStepsKept = 15;
constexpr int64_t
    kCheckedAtEnd = 8,
    kCheckedShare =
        20;  // the last steps of an epoch with all results checked: at most 8, at most a 20th

std::vector<std::string> names_of(Network& network) {
  std::vector<std::string> names;
  for (const nn::Parameter& parameter : network.parameters()) names.push_back(parameter.name);
  return names;
}

/// Concatenates one tensor of the parts' results. `index`: its position in each result.
Tensor in_one(const std::vector<MinibatchPart>& parts, size_t index) {
  std::vector<Tensor> values;
  for (const MinibatchPart& part : parts) values.push_back(part.result->tensors[index].value);
  return concatenate(values, 0);
}

bool same_nodes(const std::vector<NodeRate>& a, const std::vector<NodeRate>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NodeRate& x, const NodeRate& y) { return x.name == y.name; });
}

}  // namespace

PoolUpdater::PoolUpdater(Network& network, nn::Optimizer& optimizer, nn::Iterator& iterator,
                         const nn::Schedule& schedule, Channel& channel,
                         const PoolTrainingOptions& options)
    : Updater(network, optimizer, iterator, schedule),
      channel_(channel),
      options_(options),
      mode_(options.mode),
      joined_(!options.alone),
      gather_(channel, network.device(), options.trust, options.patience, options.stop),
      snapshots_(*this, options.trust.undo_steps) {
  if (options.ticket_samples && *options.ticket_samples < 1)
    throw Error(
        message("pool", "expected 1 or more samples a ticket, got ", *options.ticket_samples));
  if (mode_ == PoolMode::concurrent_head || mode_ == PoolMode::border || !options.border.empty())
    split_network(network.spec(), options.border);
}

int64_t PoolUpdater::ticket_samples() const {
  return options_.ticket_samples.value_or(
      std::max<int64_t>(16, ceil_div(iterator().batch_size(), 8)));
}

/// In the mode automatic it selects a mode when an epoch begins or the first node joins. Returns
/// false if there is no mode yet.
bool PoolUpdater::decide() {
  if (options_.mode != PoolMode::automatic) return true;
  if (mode_ != PoolMode::automatic && iterator().position() > 0) return true;
  const std::vector<NodeRate> nodes = channel_.nodes();
  if (nodes.empty()) return mode_ != PoolMode::automatic;
  const std::optional<StepShape> shape = this->shape();
  // A network without a border has the mode data only.
  const PoolMode best = shape ? best_mode(*shape, nodes, options_.server) : PoolMode::data;
  if (best == mode_) return true;
  mode_ = best;
  made_ = false;
  nodes_.clear();  // the plan was for another mode
  return true;
}

/// Returns nullopt if the network has no border.
std::optional<StepShape> PoolUpdater::shape() {
  StepShape shape;
  try {
    shape = step_shape(split_network(network().spec(), options_.border),
                       network().output_shape().elements());
  } catch (const Error&) {
    return std::nullopt;
  }
  shape.samples = iterator().batch_size();
  shape.ticket_samples = ticket_samples();
  shape.sample_bytes = sample_bytes_ ? sample_bytes_ : network().input_shape().elements();
  shape.wire = options_.wire;
  shape.weights_share = weights_share_;
  return shape;
}

/// Plans the time of a step if the nodes have changed.
void PoolUpdater::plan() {
  std::vector<NodeRate> nodes = channel_.nodes();
  if (same_nodes(nodes, nodes_)) return;
  step_seconds_.clear();
  nodes_ = std::move(nodes);
  const auto shape = nodes_.empty() ? std::nullopt : this->shape();
  planned_.reset();
  if (shape) planned_ = plan_step(mode_, *shape, nodes_, options_.server).seconds;
  gather_.expect(planned_.value_or(0));
}

void PoolUpdater::note_step(double seconds) {
  if (same_nodes(channel_.nodes(), nodes_))
    step_seconds_.push_back(seconds);
  else
    step_seconds_.clear();
  if (step_seconds_.size() > kStepsKept) step_seconds_.pop_front();
}

std::optional<PoolUpdater::StepSeconds> PoolUpdater::step_seconds() const {
  if (step_seconds_.empty() || !planned_) return std::nullopt;
  return StepSeconds{median({step_seconds_.begin(), step_seconds_.end()}), *planned_};
}

/// Builds the networks of the nodes and of the server.
void PoolUpdater::build_networks() {
  std::string json = network().json();
  order_ = names_of(network());
  backbone_.reset();
  head_.reset();
  if (mode_ != PoolMode::data) {
    const NetworkSplit split = split_network(network().spec(), options_.border);
    backbone_ = Network::build(split.backbone, network().device());
    head_ = Network::build(split.head, network().device());
    backbone_->initialize(network().seed());
    head_->initialize(network().seed());
    order_ = names_of(*backbone_);
    if (mode_ == PoolMode::border) json = backbone_->json();
  }
  gradients_ = order_.size();
  if (mode_ == PoolMode::concurrent_head)
    for (const std::string& name : names_of(*head_)) order_.push_back(name);
  const ByteView bytes = as_bytes(json);
  const Network& of_nodes = mode_ == PoolMode::border ? *backbone_ : network();
  const int64_t each = ticket_samples();
  const int64_t waiting = mode_ == PoolMode::border ? ceil_div(iterator().batch_size(), each) : 1;
  memory_bytes_ = TrainingMemory(of_nodes.spec(), bytes.size()).declared(each, waiting);
  gather_.drop(network_hash_);
  network_hash_ = gather_.put(BlobKind::network, {bytes.begin(), bytes.end()});
  seed_ = network().seed();
  gather_.forget_norms();  // the norms of another mode are not comparable
  made_ = true;
}

/// Sets the gradients to zero. The backbone and the head share the tensors of the whole network,
/// and get its position in the random streams.
void PoolUpdater::prepare() {
  network().zero_grad();
  if (!made_ || seed_ != network().seed()) build_networks();
  for (std::optional<Network>* part : {&backbone_, &head_}) {
    if (!*part) continue;
    share_tensors(network(), **part);
    (*part)->set_random_position(network().random_position());
  }
}

nn::Updater::Result PoolUpdater::update() {
  if (!joined_ || !decide()) return Updater::update();
  Trust& trust = gather_.trust();
  for (const int64_t end = step() + 1;;) {
    snapshots_.keep();
    trust.forget_before(snapshots_.empty() ? step() : snapshots_.oldest());
    trust.check_all(checks_all());
    try {
      Result result = train_step();
      if (const auto first = trust.tainted_since())
        undo(*first, "node " + gather_.last_expelled() + " sent wrong results");
      // Training may end before all steps are trained again. The state is then that of an earlier
      // step.
      if (step() >= end || (options_.stop && options_.stop())) return result;
    } catch (const nn::Diverged&) {
      gather_.abandon();
      if (snapshots_.empty() || !trust.has_unchecked()) throw;
      checked_until_ = end;
      undo(0, "the loss or a weight is not finite; all results are checked now");
    } catch (...) {
      gather_.abandon();
      throw;
    }
  }
}

/// Checks all results in the last steps before an evaluation, as these could not be undone in time.
bool PoolUpdater::checks_all() const {
  const int64_t batches = iterator().batches_per_epoch();
  const int64_t samples_left = iterator().dataset().size() - iterator().position();
  const int64_t last = std::clamp<int64_t>(batches / kCheckedShare, 1, kCheckedAtEnd);
  return step() < checked_until_ ||
         (options_.trust.checks.check_share > 0 && samples_left <= last * iterator().batch_size());
}

/// Restores a snapshot, so that update() trains the steps from `first` again. Starts later if the
/// snapshots do not go back that far.
void PoolUpdater::undo(int64_t first, const std::string& why) {
  const int64_t last = step();
  const int64_t from = snapshots_.restore(first);
  gather_.undo(from, last);
  log_warning(message("pool", why, "; steps ", from + 1, " to ", last, " are trained again"));
}

nn::Updater::Result PoolUpdater::train_step() {
  const double start = steady_seconds(), rate = learning_rate();
  gather_.begin_step(step());
  plan();
  prepare();
  SplitMinibatch minibatch;
  struct Drop {  // a destructor also runs after an exception
    ResultGather& gather;
    const SplitMinibatch& minibatch;
    ~Drop() {
      gather.drop(minibatch.ticket.weights);
      gather.drop(minibatch.ticket.delta);
      for (const std::string& hash : minibatch.samples) gather.drop(hash);
    }
  } drop{gather_, minibatch};
  split_minibatch(minibatch);
  Result result =
      mode_ == PoolMode::border ? step_over_border(minibatch) : step_by_gradients(minibatch);
  if (const float loss = result.loss.item(); !std::isfinite(loss))
    throw nn::Diverged(
        message("pool", "expected a finite loss, got ", loss, " in step ", step() + 1));
  network().set_random_position(network().random_position() + 1);
  optimizer().step(network().parameters(), network().gradients(), rate);
  note_step(steady_seconds() - start);
  return result;
}

/// In the mode data the nodes compute all gradients. The mode concurrent_head is Algorithm 1 of the
/// MILJS paper.
nn::Updater::Result PoolUpdater::step_by_gradients(const SplitMinibatch& minibatch) {
  const bool data = mode_ == PoolMode::data;
  std::vector<MinibatchPart> parts = gradient_parts(minibatch);
  gather_.send(parts);
  Result result;
  result.labels = minibatch.batch.labels;
  if (!data) {
    const Tensor activations =
        backbone_->forward(nn::inputs_of(minibatch.batch, network()), Phase::train);
    const Network::Loss loss = run_head(minibatch, activations, nullptr);
    result.loss = loss.loss;
    result.output = loss.output;
  }
  gather_.collect(parts);
  add_gradients(minibatch, parts, true);
  if (!data) return result;
  const auto all = static_cast<float>(minibatch.batch.images.dim(0));
  float loss = 0;
  for (size_t i = 0; i < parts.size(); ++i)
    loss += static_cast<float>(minibatch.count[i]) / all * parts[i].result->tensors[0].value.item();
  result.loss = Tensor::full({}, loss, network().device());
  result.output = in_one(parts, 1).to(network().device());
  average_states(minibatch, parts);
  return result;
}

nn::Updater::Result PoolUpdater::step_over_border(const SplitMinibatch& minibatch) {
  std::vector<MinibatchPart> forward = forward_parts(minibatch);
  std::vector<Tensor> states;
  for (const nn::State& state : head_->states()) states.push_back(state.value.clone());
  for (;;) {
    gather_.send(forward);
    gather_.collect(forward);
    Tensor gradient;
    const Network::Loss loss = run_head(minibatch, in_one(forward, 0), &gradient);
    std::vector<MinibatchPart> backward = backward_parts(minibatch, forward, gradient);
    gather_.send(backward);
    gather_.collect(backward);
    if (!gather_.any_expelled(forward)) {
      add_gradients(minibatch, backward, false);
      average_states(minibatch, forward);
      return {loss.loss, loss.output, minibatch.batch.labels};
    }
    // The head's gradients contain activations of an expelled node, so the step is repeated.
    network().zero_grad();
    share_tensors(network(), *head_);
    head_->set_random_position(minibatch.ticket.position);
    for (size_t i = 0; i < states.size(); ++i) copy_into(head_->states()[i].value, states[i]);
  }
}

/// Computes the loss and the gradients of the head for the whole minibatch. If `gradient` is not
/// null, it also computes the gradient of the head's input.
Network::Loss PoolUpdater::run_head(const SplitMinibatch& minibatch, const Tensor& activations,
                                    Tensor* gradient) {
  Network::Loss loss =
      head_->forward_loss(activations, minibatch.batch.labels, Phase::train, gradient != nullptr);
  Tensor of_input = head_->backward();
  if (gradient) *gradient = of_input;
  return loss;
}

/// Adds the gradients in the order of the tickets, for the same sum in every run.
void PoolUpdater::add_gradients(const SplitMinibatch& minibatch,
                                const std::vector<MinibatchPart>& parts, bool means) {
  std::map<std::string, Tensor> gradients;
  const std::vector<Tensor>& values = network().gradients().values;
  for (size_t i = 0; i < values.size(); ++i) gradients[network().parameters()[i].name] = values[i];
  const auto all = static_cast<float>(minibatch.batch.images.dim(0));
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t k = 0; k < parts[i].expected.size(); ++k) {
      if (!parts[i].expected[k].gradient) continue;
      const auto& [name, value] = parts[i].result->tensors[k];
      kaiseki::update("g = g + c*x",
                      {{"g", gradients.at(name)},
                       {"c", means ? static_cast<float>(minibatch.count[i]) / all : 1.0f},
                       {"x", value.to(network().device())}});
    }
}

/// Running statistics are linear in the statistics of a batch, so the mean over the tickets is
/// right.
void PoolUpdater::average_states(const SplitMinibatch& minibatch,
                                 const std::vector<MinibatchPart>& parts) {
  const auto all = static_cast<float>(minibatch.batch.images.dim(0));
  for (nn::State& state : network().states())
    for (size_t k = 0; k < parts[0].expected.size(); ++k) {
      if (parts[0].expected[k].name != state.name) continue;
      fill(state.value, 0);
      for (size_t i = 0; i < parts.size(); ++i)
        kaiseki::update("s = s + c*x",
                        {{"s", state.value},
                         {"c", static_cast<float>(minibatch.count[i]) / all},
                         {"x", parts[i].result->tensors[k].value.to(network().device())}});
    }
}

}  // namespace kaiseki::dist
