// SPDX-License-Identifier: MIT
#include "dist/train/training_node.h"

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"
#include "dist/train/samples.h"
#include "dist/wire/delta.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/normalize.h"
#include "nn/parse_network.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kMaxPasses = 16;  // forward passes that await their backward pass
constexpr size_t kMaxModels = 4;
constexpr uint64_t kDecoded = 4;     // bytes of decoded tensors for each byte of a blob
constexpr size_t kMostOfTicket = 4;  // blobs that a ticket may need at once

/// A forward pass of one sample. VGG-16 has 1.6e10 operations.
constexpr double kMaxOperations = 1e12;

/// Throws if a ticket with one sample would keep a slow node busy for minutes.
void expect_work_fits(const nn::NetworkSpec& spec) {
  double operations = 0;
  for (const nn::LayerSummary& layer : nn::summarize(spec).layers) operations += layer.operations;
  if (operations > kMaxOperations)
    throw Error(message("node", "expected a network of at most ", kMaxOperations,
                        " operations for a sample, got ", operations));
}

/// The key of a forward pass, for its backward pass with the same weights.
std::string key_of(const TrainingTicket& ticket) {
  return ticket.samples + " " + std::to_string(ticket.position) + " " +
         std::to_string(ticket.first);
}

}  // namespace

TrainingNode::TrainingNode(Device device, uint64_t cache_bytes)
    : device_(device), blobs_(cache_bytes, kMostOfTicket) {}

std::vector<std::string> TrainingNode::missing(ByteView bytes) const {
  const TrainingTicket ticket = decode_ticket(bytes);
  std::vector<std::string> hashes;
  const auto model = models_.find(ticket.network);
  if (model == models_.end()) hashes.push_back(ticket.network);
  if (model == models_.end() || model->second.weights != ticket.weights ||
      model->second.seed != ticket.seed)
    hashes.push_back(has_base(ticket) ? ticket.delta : ticket.weights);
  hashes.push_back(ticket.samples);
  std::erase_if(hashes, [&](const std::string& hash) { return blobs_.contains(hash); });
  return hashes;
}

void TrainingNode::add_blob(const std::string& hash, ByteVector bytes) {
  expect_blob("node", hash, bytes);
  blobs_.add(hash, std::move(bytes));
}

const ByteVector& TrainingNode::blob(const std::string& hash) {
  const ByteVector* bytes = blobs_.find(hash);
  if (!bytes)
    throw Error(message("node", "expected the blob ", hash, " before the ticket, got none"));
  return *bytes;
}

ByteVector TrainingNode::run(ByteView ticket, const Getter& get, uint64_t memory_bytes) {
  for (const std::string& hash : missing(ticket)) add_blob(hash, get(hash));
  return run(ticket, memory_bytes);
}

ByteVector TrainingNode::run(ByteView bytes, uint64_t memory_bytes) {
  memory_bytes_ = memory_bytes;
  expect_blob_fits(bytes.size(), kDecoded);
  const TrainingTicket ticket = decode_ticket(bytes);
  NodeModel& model = model_of(ticket);
  if (model.weights != ticket.weights) load_weights(model, ticket);
  std::vector<WireTensor> result;
  if (ticket.work == Work::forward) {
    result.push_back({"output", forward(model, ticket), ticket.activation_type});
  } else if (ticket.work == Work::backward) {
    backward(model, ticket);
  } else {
    const Tensor samples = samples_of(model, ticket);
    nn::Network& network = begin(model, ticket).network;
    network.zero_grad();
    const nn::Network::Loss loss = network.forward_loss(samples, ticket.labels);
    network.backward();
    if (ticket.output) {
      result.push_back({"loss", loss.loss.reshape({1})});
      result.push_back({"output", loss.output, ticket.activation_type});
    }
  }
  add_gradients(model, ticket, result);
  if (ticket.output)
    for (const nn::State& state : model.passes.front().network.states())
      result.push_back({state.name, state.value});
  const uint64_t rounding = ticket.position << 32 ^ static_cast<uint64_t>(ticket.first);
  return encode_tensors(result, {{"ticket", sha256(bytes)}}, rounding);
}

TrainingNode::NodeModel& TrainingNode::model_of(const TrainingTicket& ticket) {
  auto at = models_.find(ticket.network);
  if (at == models_.end()) {
    if (models_.size() >= kMaxModels) models_.clear();
    const ByteVector& text = blob(ticket.network);
    expect_blob_fits(text.size(), TrainingMemory::kText);
    nn::NetworkSpec spec = nn::parse_network(as_text(text), "network");
    const TrainingMemory memory(spec, text.size());
    expect_fits(memory, 1);
    expect_work_fits(spec);
    at =
        models_.emplace(ticket.network, NodeModel{.spec = std::move(spec), .memory = memory}).first;
  }
  NodeModel& model = at->second;
  expect_fits(model.memory, 1);
  make_room_for(model);
  if (model.passes.empty() || model.seed != ticket.seed) {
    model.passes.clear();
    model.weights.clear();
    model.seed = ticket.seed;
    add_pass(model);
  }
  return model;
}

TrainingNode::Pass& TrainingNode::add_pass(NodeModel& model) {
  nn::Network network = nn::Network::build(model.spec, device_);
  network.initialize(model.seed);
  if (!model.passes.empty()) {
    nn::Network& first = model.passes.front().network;
    for (size_t i = 0; i < first.parameters().size(); ++i)
      network.parameters()[i].value = first.parameters()[i].value;
    network.gradients() = first.gradients();
  }
  return model.passes.emplace_front(Pass{std::move(network), ""});
}

/// Whether the node needs only the delta for the ticket's weights.
bool TrainingNode::has_base(const TrainingTicket& ticket) const {
  return !ticket.delta.empty() && blobs_.contains(ticket.base) && !blobs_.contains(ticket.weights);
}

void TrainingNode::apply_delta_of(const TrainingTicket& ticket) {
  ByteVector weights = apply_delta(blob(ticket.base), blob(ticket.delta));
  blobs_.remove(ticket.base);
  blobs_.remove(ticket.delta);
  add_blob(ticket.weights, std::move(weights));
}

void TrainingNode::load_weights(NodeModel& model, const TrainingTicket& ticket) {
  if (has_base(ticket)) apply_delta_of(ticket);
  expect_blob_fits(blob(ticket.weights).size(), kDecoded);
  const TensorMessage weights = decode_tensors(blob(ticket.weights), "weights");
  model.weights.clear();
  model.names.clear();
  model.states.clear();
  std::map<std::string, const Tensor*> found;
  for (const auto& [name, value] : weights.tensors) {
    found[name] = &value;
    model.names.push_back(name);
  }
  nn::Network& network = model.passes.back().network;
  auto take = [&](const std::string& name, const Tensor& as) -> const Tensor& {
    const auto at = found.find(name);
    require(
        at != found.end() && at->second->shape() == as.shape() && at->second->dtype() == DType::f32,
        "node", "expected weights ", name, " of shape ", as.shape(), ", got ",
        at == found.end() ? "none" : at->second->shape().str());
    return *at->second;
  };
  for (nn::Parameter& parameter : network.parameters())
    copy_into(parameter.value, take(parameter.name, parameter.value));
  for (nn::State& state : network.states())
    model.states.push_back(take(state.name, state.value).to(device_));
  for (Pass& pass : model.passes) pass.forward_key.clear();
  model.weights = ticket.weights;
}

void TrainingNode::expect_fits(const TrainingMemory& memory, int64_t samples) const {
  const uint64_t needed = memory.needed(samples);
  if (needed > memory_bytes_)
    throw Error(message("train", "expected a ticket that needs at most ",
                        format_bytes(memory_bytes_), " (memory_bytes), got a network that needs ",
                        format_bytes(needed), " for ", samples, " samples"));
}

/// `times`: the size of the decoded blob, in sizes of the blob.
void TrainingNode::expect_blob_fits(uint64_t bytes, uint64_t times) const {
  if (bytes > memory_bytes_ / times)
    throw Error(message("train", "expected data of at most ", format_bytes(memory_bytes_ / times),
                        ", as a ticket may need ", format_bytes(memory_bytes_),
                        " (memory_bytes), got ", format_bytes(bytes)));
}

/// Evicts the other models if they and this one need more than the ticket's memory.
void TrainingNode::make_room_for(const NodeModel& model) {
  uint64_t needed = 0;
  for (const auto& [hash, one] : models_) {
    const auto passes = static_cast<int64_t>(std::max<size_t>(1, one.passes.size()));
    if (__builtin_add_overflow(needed, one.memory.needed(one.samples, passes), &needed))
      needed = UINT64_MAX;
  }
  if (needed > memory_bytes_)
    std::erase_if(models_, [&](const auto& other) { return &other.second != &model; });
}

/// Moves the oldest free pass to the front. A free pass awaits no backward pass. Without a free
/// one, adds a pass. At the limit, reuses the oldest.
TrainingNode::Pass& TrainingNode::begin(NodeModel& model, const TrainingTicket& ticket) {
  auto free = std::find_if(model.passes.rbegin(), model.passes.rend(),
                           [](const Pass& pass) { return pass.forward_key.empty(); });
  if (free == model.passes.rend() && model.passes.size() < kMaxPasses &&
      model.memory.needed(model.samples, static_cast<int64_t>(model.passes.size()) + 1) <=
          memory_bytes_) {
    add_pass(model);
  } else {
    const auto at =
        free == model.passes.rend() ? std::prev(model.passes.end()) : std::prev(free.base());
    model.passes.splice(model.passes.begin(), model.passes, at);
  }
  Pass& pass = model.passes.front();
  pass.forward_key.clear();
  pass.network.set_random_position(ticket.position);
  pass.network.set_first_sample(ticket.first);
  for (size_t i = 0; i < model.states.size(); ++i)
    copy_into(pass.network.states()[i].value, model.states[i]);
  return pass;
}

Tensor TrainingNode::samples_of(NodeModel& model, const TrainingTicket& ticket) {
  expect_blob_fits(blob(ticket.samples).size(), kDecoded);
  const auto& [images, how] = unpack_samples(blob(ticket.samples), memory_bytes_);
  expect_fits(model.memory, images.dim(0));
  model.samples = std::max(model.samples, images.dim(0));
  return normalize(images.to(device_), how.mean, how.std);
}

Tensor TrainingNode::forward(NodeModel& model, const TrainingTicket& ticket) {
  const Tensor samples = samples_of(model, ticket);
  Pass& pass = begin(model, ticket);
  Tensor output = pass.network.forward(samples, nn::Phase::train);
  pass.forward_key = key_of(ticket);
  return output;
}

/// Repeats the forward pass if another node computed it, or if it was evicted.
void TrainingNode::backward(NodeModel& model, const TrainingTicket& ticket) {
  auto done = std::find_if(model.passes.begin(), model.passes.end(),
                           [&](const Pass& pass) { return pass.forward_key == key_of(ticket); });
  if (done == model.passes.end()) {
    forward(model, ticket);
  } else {
    model.passes.splice(model.passes.begin(), model.passes, done);
  }
  Pass& pass = model.passes.front();
  pass.forward_key.clear();
  pass.network.zero_grad();
  pass.network.backward(ticket.grad_output);
}

void TrainingNode::add_gradients(NodeModel& model, const TrainingTicket& ticket,
                                 std::vector<WireTensor>& to) {
  nn::Network& network = model.passes.front().network;
  const std::vector<Tensor>& gradients = network.gradients().values;
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < gradients.size(); ++i)
    by_name[network.parameters()[i].name] = gradients[i];
  for (int64_t i = 0; i < ticket.gradients; ++i) {
    const bool known = static_cast<size_t>(i) < model.names.size() &&
                       by_name.contains(model.names[static_cast<size_t>(i)]);
    require(known, "node", "expected a ticket for ", by_name.size(), " gradients at most, got ",
            ticket.gradients);
    const std::string& name = model.names[static_cast<size_t>(i)];
    to.push_back({name, by_name.at(name), ticket.gradient_type});
  }
}

}  // namespace kaiseki::dist
