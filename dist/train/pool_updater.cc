// SPDX-License-Identifier: MIT
#include "dist/train/pool_updater.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "matrix/error.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"

namespace kaiseki::dist {
namespace {

using nn::Network;
using nn::Phase;

constexpr size_t kStepsKept = 15;

std::vector<std::string> names_of(Network& network) {
  std::vector<std::string> names;
  for (const nn::Parameter& parameter : network.parameters()) names.push_back(parameter.name);
  return names;
}

/// The tensor of each piece's result that has this name, one after the other.
Tensor in_one(const std::vector<Piece>& pieces, size_t index) {
  std::vector<Tensor> parts;
  for (const Piece& piece : pieces) parts.push_back(piece.result->tensors[index].value);
  return concatenate(parts, 0);
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
      gather_(channel, network.device(), options.trust, options.patience, options.stop) {
  if (options.ticket_samples < 0)
    throw Error(
        message("pool", "expected 0 or more samples a ticket, got ", options.ticket_samples));
  if (mode_ == PoolMode::paper || mode_ == PoolMode::border || !options.border.empty())
    split_network(network.json(), options.border);
}

int64_t PoolUpdater::ticket_samples() const {
  if (options_.ticket_samples > 0) return options_.ticket_samples;
  return std::max<int64_t>(16, (iterator().batch_size() + 7) / 8);
}

/// With the mode automatic, when an epoch begins or the first node is there.
bool PoolUpdater::decide() {
  if (options_.mode != PoolMode::automatic) return true;
  if (mode_ != PoolMode::automatic && iterator().position() > 0) return true;
  const std::vector<NodeRate> nodes = channel_.nodes();
  if (nodes.empty()) return mode_ != PoolMode::automatic;
  const std::optional<StepShape> shape = this->shape();
  // Without a border there is one mode.
  const PoolMode best = shape ? fastest_mode(*shape, nodes, options_.server) : PoolMode::data;
  if (best == mode_) return true;
  mode_ = best;
  made_ = false;
  nodes_.clear();  // the plan was another mode's
  return true;
}

/// Nothing when the network has no border.
std::optional<StepShape> PoolUpdater::shape() {
  StepShape shape;
  try {
    shape = step_shape(split_network(network().json(), options_.border),
                       network().output_shape().elements());
  } catch (const Error&) {
    return std::nullopt;
  }
  shape.samples = iterator().batch_size();
  shape.ticket_samples = ticket_samples();
  shape.sample_bytes = sample_bytes_ ? sample_bytes_ : network().input_shape().elements();
  shape.wire = options_.wire;
  return shape;
}

/// For the nodes that are there when a step begins.
void PoolUpdater::plan() {
  std::vector<NodeRate> nodes = channel_.nodes();
  if (same_nodes(nodes, nodes_)) return;
  step_seconds_.clear();
  nodes_ = std::move(nodes);
  const auto shape = nodes_.empty() ? std::nullopt : this->shape();
  planned_ = shape ? plan_step(mode_, *shape, nodes_, options_.server).seconds : 0;
  gather_.expect(planned_);
}

void PoolUpdater::note_step(double seconds) {
  if (same_nodes(channel_.nodes(), nodes_))
    step_seconds_.push_back(seconds);
  else
    step_seconds_.clear();
  if (step_seconds_.size() > kStepsKept) step_seconds_.pop_front();
}

PoolUpdater::StepSeconds PoolUpdater::step_seconds() const {
  if (step_seconds_.empty() || planned_ == 0) return {};
  std::vector<double> sorted(step_seconds_.begin(), step_seconds_.end());
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return {*middle, planned_};
}

/// The networks that nodes and server run.
void PoolUpdater::make_parts() {
  std::string json = network().json();
  order_ = names_of(network());
  head_.reset();
  tail_.reset();
  if (mode_ != PoolMode::data) {
    const NetworkSplit split = split_network(network().json(), options_.border);
    head_ = Network::parse(split.head, network().name(), network().device());
    tail_ = Network::parse(split.tail, network().name(), network().device());
    head_->initialize(network().seed());
    tail_->initialize(network().seed());
    order_ = names_of(*head_);
    if (mode_ == PoolMode::border) json = split.head;
  }
  gradients_ = order_.size();
  if (mode_ == PoolMode::paper)
    for (const std::string& name : names_of(*tail_)) order_.push_back(name);
  const ByteView bytes = nn::as_bytes(json);
  gather_.drop(network_hash_);
  network_hash_ = gather_.put(BlobKind::network, {bytes.begin(), bytes.end()});
  seed_ = network().seed();
  made_ = true;
}

/// Gradients are zeros, and the parts have the tensors and the place in the random streams of the
/// whole.
void PoolUpdater::prepare() {
  network().zero_grad();
  if (!made_ || seed_ != network().seed()) make_parts();
  for (std::optional<Network>* part : {&head_, &tail_}) {
    if (!*part) continue;
    share_tensors(network(), **part);
    (*part)->set_random_position(network().random_position());
  }
}

nn::Updater::Result PoolUpdater::update() {
  if (!joined_ || !decide()) return Updater::update();
  const auto start = std::chrono::steady_clock::now();
  plan();
  prepare();
  const Cut cut = this->cut();
  Result result = mode_ == PoolMode::border ? step_over_border(cut) : step_by_gradients(cut);
  gather_.drop(cut.weights);
  for (const std::string& hash : cut.samples) gather_.drop(hash);
  network().set_random_position(network().random_position() + 1);
  optimizer().step(network().parameters(), learning_rate());
  note_step(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return result;
}

/// data: all gradients come from the nodes. paper: Algorithm 1 of the MILJS paper.
nn::Updater::Result PoolUpdater::step_by_gradients(const Cut& cut) {
  const bool data = mode_ == PoolMode::data;
  std::vector<Piece> pieces = gradient_pieces(cut);
  gather_.send(pieces);
  Result result;
  result.labels = cut.batch.labels;
  if (!data) {
    const Tensor activations =
        head_->forward(cut.batch.images.to(network().device()), Phase::train);
    const Network::Loss loss = run_tail(cut, activations, nullptr);
    result.loss = loss.loss;
    result.output = loss.output;
  }
  gather_.collect(pieces);
  add_gradients(cut, pieces, true);
  if (!data) return result;
  const auto all = static_cast<float>(cut.batch.images.dim(0));
  float loss = 0;
  for (size_t i = 0; i < pieces.size(); ++i)
    loss += static_cast<float>(cut.count[i]) / all * pieces[i].result->tensors[0].value.item();
  result.loss = Tensor::full({}, loss, network().device());
  result.output = in_one(pieces, 1).to(network().device());
  average_states(cut, pieces);
  return result;
}

nn::Updater::Result PoolUpdater::step_over_border(const Cut& cut) {
  std::vector<Piece> forward = forward_pieces(cut);
  std::vector<Tensor> states;
  for (const nn::State& state : tail_->states()) states.push_back(state.value.clone());
  for (;;) {
    gather_.send(forward);
    gather_.collect(forward);
    Tensor gradient;
    const Network::Loss loss = run_tail(cut, in_one(forward, 0), &gradient);
    std::vector<Piece> backward = backward_pieces(cut, forward, gradient);
    gather_.send(backward);
    gather_.collect(backward);
    if (!gather_.any_expelled(forward)) {
      add_gradients(cut, backward, false);
      average_states(cut, forward);
      return {loss.loss, loss.output, cut.batch.labels};
    }
    // Activations of a liar are in the tail's gradients: the step begins anew.
    network().zero_grad();
    share_tensors(network(), *tail_);
    tail_->set_random_position(cut.ticket.position);
    for (size_t i = 0; i < states.size(); ++i) copy(states[i], tail_->states()[i].value);
  }
}

/// Loss and gradients of the tail for the whole minibatch; `gradient`: that of its input too.
Network::Loss PoolUpdater::run_tail(const Cut& cut, const Tensor& activations, Tensor* gradient) {
  Network::Loss loss =
      tail_->forward_loss(activations, cut.batch.labels, Phase::train, gradient != nullptr);
  Tensor of_input = tail_->backward();
  if (gradient) *gradient = of_input;
  return loss;
}

/// In the order of the tickets, whoever answered first.
void PoolUpdater::add_gradients(const Cut& cut, const std::vector<Piece>& pieces, bool means) {
  std::map<std::string, nn::Parameter*> parameters;
  for (nn::Parameter& parameter : network().parameters()) parameters[parameter.name] = &parameter;
  const auto all = static_cast<float>(cut.batch.images.dim(0));
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t k = 0; k < pieces[i].wanted.size(); ++k) {
      if (!pieces[i].wanted[k].gradient) continue;
      const auto& [name, value] = pieces[i].result->tensors[k];
      kaiseki::update("g = g + c*x", {{"g", parameters.at(name)->grad},
                                      {"c", means ? static_cast<float>(cut.count[i]) / all : 1.0f},
                                      {"x", value.to(network().device())}});
    }
}

/// Running statistics are linear in those of a batch: the mean over the tickets is their mean.
void PoolUpdater::average_states(const Cut& cut, const std::vector<Piece>& pieces) {
  const auto all = static_cast<float>(cut.batch.images.dim(0));
  for (nn::State& state : network().states())
    for (size_t k = 0; k < pieces[0].wanted.size(); ++k) {
      if (pieces[0].wanted[k].name != state.name) continue;
      fill(state.value, 0);
      for (size_t i = 0; i < pieces.size(); ++i)
        kaiseki::update("s = s + c*x",
                        {{"s", state.value},
                         {"c", static_cast<float>(cut.count[i]) / all},
                         {"x", pieces[i].result->tensors[k].value.to(network().device())}});
    }
}

}  // namespace kaiseki::dist
