// SPDX-License-Identifier: MIT
// PoolUpdater: makes the tickets of a minibatch, with the expected tensors of their results.
#include <algorithm>
#include <map>

#include "dist/train/pool_updater.h"
#include "dist/wire/delta.h"
#include "matrix/ops/copy.h"

namespace kaiseki::dist {
namespace {

using nn::Network;

constexpr uint64_t kHeaderRoom = 128;  // bytes of a tensor's header besides its name

Shape with_batch(int64_t n, const Shape& sample) {
  Shape shape = {n};
  for (int64_t dim : sample) shape.push_back(dim);
  return shape;
}

Tensor rows(const Tensor& of, int64_t first, int64_t count) {
  return of.slice(0, first, count).contiguous();
}

}  // namespace

void PoolUpdater::put_weights(SplitMinibatch& minibatch) {
  std::map<std::string, Tensor> values;
  for (const nn::Parameter& parameter : network().parameters())
    values[parameter.name] = parameter.value;
  const WireType type = options_.wire == WireType::f32 ? WireType::f32 : WireType::f16;
  std::vector<WireTensor> tensors;
  for (const std::string& name : order_) tensors.push_back({name, values[name], type});
  Network& of = mode_ == PoolMode::border ? *backbone_ : network();
  for (const nn::State& state : of.states()) tensors.push_back({state.name, state.value});
  ByteVector weights = encode_tensors(tensors);
  if (type == WireType::f16) put_delta(minibatch, weights);
  minibatch.ticket.weights = gather_.put(BlobKind::weights, weights);
  last_weights_ = std::move(weights);
  last_hash_ = minibatch.ticket.weights;
}

/// For nodes that have the weights of the last step.
void PoolUpdater::put_delta(SplitMinibatch& minibatch, ByteView weights) {
  std::optional<ByteVector> delta = encode_delta(last_weights_, weights);
  weights_share_ =
      delta ? static_cast<double>(delta->size()) / static_cast<double>(weights.size()) : 1;
  if (!delta) return;
  minibatch.ticket.base = last_hash_;
  minibatch.ticket.delta = gather_.put(BlobKind::weights, std::move(*delta));
}

/// The decoder of nodes may give other pixels than the server's. In the mode concurrent_head the
/// server computes with the same images as the nodes: it overwrites those of the minibatch.
std::string PoolUpdater::put_samples(nn::Batch& batch, int64_t first, int64_t count) {
  Tensor images = batch.images.slice(0, first, count);
  std::span<const nn::SampleFile> files;
  if (options_.wire != WireType::f32 && !batch.files.empty())
    files = std::span(batch.files).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
  ByteVector blob = pack_samples({images, batch.normalization}, files);
  sample_bytes_ = static_cast<int64_t>(blob.size()) / count;
  if (!files.empty() && mode_ == PoolMode::concurrent_head)
    copy_into(images, unpack_samples(blob).images);
  return gather_.put(BlobKind::samples, std::move(blob));
}

void PoolUpdater::split_minibatch(SplitMinibatch& minibatch) {
  minibatch.batch = next_batch();
  put_weights(minibatch);
  const int64_t samples = minibatch.batch.images.dim(0), each = ticket_samples();
  for (int64_t first = 0; first < samples; first += each) {
    minibatch.first.push_back(first);
    minibatch.count.push_back(std::min(each, samples - first));
    minibatch.samples.push_back(put_samples(minibatch.batch, first, minibatch.count.back()));
  }
  minibatch.ticket.network = network_hash_;
  minibatch.ticket.seed = network().seed();
  minibatch.ticket.position = network().random_position();
  minibatch.ticket.activation_type = options_.wire == WireType::f32 ? WireType::f32 : WireType::f16;
  minibatch.ticket.gradient_type = options_.wire;
}

MinibatchPart PoolUpdater::make_part(const TrainingTicket& ticket, int64_t samples,
                                     std::vector<MinibatchPart::Expected> expected) const {
  static constexpr int kPasses[] = {3, 1, 2};  // of Work
  MinibatchPart part{encode_ticket(ticket), std::move(expected)};
  part.work = static_cast<double>(samples * kPasses[static_cast<size_t>(ticket.work)]);
  part.memory_bytes = memory_bytes_;
  part.max_bytes = 2 * kHeaderRoom;
  for (const MinibatchPart::Expected& one : part.expected)
    part.max_bytes += wire_bytes(one.shape.elements(), one.type) + one.name.size() + kHeaderRoom;
  return part;
}

std::vector<MinibatchPart::Expected> PoolUpdater::expected_gradients() {
  std::map<std::string, Shape> shapes;
  for (const nn::Parameter& parameter : network().parameters())
    shapes[parameter.name] = parameter.value.shape();
  std::vector<MinibatchPart::Expected> expected;
  for (size_t i = 0; i < gradients_; ++i)
    expected.push_back({order_[i], shapes[order_[i]], true, options_.wire});
  return expected;
}

TrainingTicket PoolUpdater::SplitMinibatch::ticket_of(size_t i, Work work) const {
  TrainingTicket one = ticket;
  one.work = work;
  one.samples = samples[i];
  one.first = first[i];
  return one;
}

void PoolUpdater::add_expected_states(std::vector<MinibatchPart::Expected>& expected) {
  Network& of = mode_ == PoolMode::border ? *backbone_ : network();
  for (const nn::State& state : of.states())
    expected.push_back({state.name, state.value.shape(), false, WireType::f32,
                        state.value.to(Device::cpu()).clone()});
}

/// In the mode data the parts return all gradients. In the mode concurrent_head they are Algorithm
/// 2 of the MILJS paper.
std::vector<MinibatchPart> PoolUpdater::gradient_parts(const SplitMinibatch& minibatch) {
  const bool data = mode_ == PoolMode::data;
  std::vector<MinibatchPart> parts;
  for (size_t i = 0; i < minibatch.first.size(); ++i) {
    TrainingTicket ticket = minibatch.ticket_of(i, Work::gradients);
    ticket.gradients = static_cast<int64_t>(gradients_);
    ticket.output = data;
    ticket.labels = rows(minibatch.batch.labels, minibatch.first[i], minibatch.count[i]);
    std::vector<MinibatchPart::Expected> expected;
    if (data) {
      expected.push_back({"loss", {1}});
      expected.push_back({"output", with_batch(minibatch.count[i], network().output_shape()), false,
                          ticket.activation_type});
    }
    for (MinibatchPart::Expected& one : expected_gradients()) expected.push_back(std::move(one));
    if (data) add_expected_states(expected);
    parts.push_back(make_part(ticket, minibatch.count[i], std::move(expected)));
  }
  return parts;
}

std::vector<MinibatchPart> PoolUpdater::forward_parts(const SplitMinibatch& minibatch) {
  std::vector<MinibatchPart> parts;
  const Shape border = backbone_->output_shape();
  for (size_t i = 0; i < minibatch.first.size(); ++i) {
    TrainingTicket ticket = minibatch.ticket_of(i, Work::forward);
    ticket.output = true;
    std::vector<MinibatchPart::Expected> expected = {
        {"output", with_batch(minibatch.count[i], border), false, ticket.activation_type}};
    add_expected_states(expected);
    parts.push_back(make_part(ticket, minibatch.count[i], std::move(expected)));
  }
  return parts;
}

std::vector<MinibatchPart> PoolUpdater::backward_parts(const SplitMinibatch& minibatch,
                                                       const std::vector<MinibatchPart>& forward,
                                                       const Tensor& gradient) {
  std::vector<MinibatchPart> parts;
  for (size_t i = 0; i < minibatch.first.size(); ++i) {
    TrainingTicket ticket = minibatch.ticket_of(i, Work::backward);
    ticket.gradients = static_cast<int64_t>(gradients_);
    ticket.grad_output = rows(gradient, minibatch.first[i], minibatch.count[i]);
    parts.push_back(make_part(ticket, minibatch.count[i], expected_gradients()));
    parts.back().prefer = forward[i].node;
  }
  return parts;
}

}  // namespace kaiseki::dist
