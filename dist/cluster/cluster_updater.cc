// SPDX-License-Identifier: MIT
#include "dist/cluster/cluster_updater.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "dist/cluster/agreement.h"
#include "matrix/ceil_div.h"
#include "matrix/memory/idle_tensors.h"
#include "matrix/memory/room.h"
#include "matrix/ops/copy.h"
#include "nn/train/network_batch.h"

namespace kaiseki::dist {
namespace {

std::span<std::byte> bytes_of(Tensor& tensor) {
  return std::as_writable_bytes(
      std::span(tensor.mutable_data<float>(), static_cast<size_t>(tensor.size())));
}

uint64_t bytes_of_gradients(nn::Network& network) {
  uint64_t bytes = 0;
  for (const nn::Parameter& one : network.parameters()) bytes += one.value.bytes();
  return bytes;
}

/// Whether the tensors of the device keep their place in host memory between two uses.
bool tensors_stay(Device device) { return !device.is_cpu() || !room_for_tensors(device); }

}  // namespace

ClusterUpdater::ClusterUpdater(nn::Network& network, nn::Optimizer& optimizer,
                               nn::Iterator& iterator, const nn::Schedule& schedule,
                               Cluster& cluster, const ClusterTrainingOptions& options)
    : Updater(network, optimizer, iterator, schedule),
      cluster_(cluster),
      for_gradients_(cluster.duplicate()),
      exchange_(*for_gradients_, bytes_of_gradients(network), options.exchange),
      stop_(options.stop),
      sync_batch_norm_(options.sync_batch_norm),
      wire_(options.exchange.wire),
      factors_(options.exchange.factors) {
  if (iterator.share() != cluster.share())
    throw Error(message("cluster", "expected an iterator with the share of the cluster, got share ",
                        iterator.share().index, " of ", iterator.share().parts));
}

ClusterUpdater::~ClusterUpdater() { leave_network(); }

void ClusterUpdater::leave_network() {
  network().set_gradient_hook({});
  network().set_statistics_sum({});
  network().set_factor_gathering({});
}

ClusterUpdater::Result ClusterUpdater::update() {
  try {
    return step();
  } catch (...) {
    cluster_.ranks().cancel();  // the thread of the exchange would wait for the others
    leave_network();
    throw;
  }
}

/// Ranks that differ in one of these facts would wait for each other, or train differently.
void ClusterUpdater::expect_agreement() {
  std::vector<SharedFact> facts = facts_of(*this);
  facts.push_back({"kind of exchange", 4.0 * static_cast<double>(factors_) +
                                           2.0 * sync_batch_norm_ +
                                           (wire_ == ClusterWire::f16 ? 1.0 : 0.0)});
  facts.push_back({"bytes of a bucket", static_cast<double>(exchange_.bucket_bytes())});
  dist::expect_agreement(cluster_, facts);
}

/// All ranks get the weights of rank 0. Devices of several kinds may round differently.
void ClusterUpdater::share_weights() {
  const std::vector<nn::State> slots = optimizer().states(network().parameters());
  IdleTensors idle(network().device());
  add_idle(idle);
  for (nn::Parameter& one : network().parameters())
    broadcast(cluster_.ranks(), bytes_of(one.value));
  for (nn::State& one : network().states()) broadcast(cluster_.ranks(), bytes_of(one.value));
  for (nn::State one : slots) broadcast(cluster_.ranks(), bytes_of(one.value));
}

/// The ranks agree on the way of the exchange, because it must be the same on all ranks.
void ClusterUpdater::begin() {
  expect_agreement();
  share_weights();
  float moving = tensors_stay(network().device()) ? 0 : 1;
  all_reduce(cluster_.ranks(), {&moving, 1});
  tensors_stay_ = moving == 0;
  if (factors_ == FactorUse::automatic)
    factors_ = cluster_.is_on_several_machines() ? FactorUse::if_smaller : FactorUse::never;
  begun_ = true;
}

bool ClusterUpdater::gather_factors(Tensor& inputs, Tensor& gradients, int64_t samples) {
  const int64_t columns[] = {inputs.dim(1), gradients.dim(1)};
  const int64_t row = columns[0] + columns[1];
  const int64_t wire = wire_ == ClusterWire::f16 ? 2 : 4;
  if (!exchanges_factors(samples, columns[0], columns[1], wire)) return false;
  std::vector<RankPart> parts;
  int64_t end = 0;
  for (int rank = 0; rank < cluster_.size(); ++rank) {
    const int64_t values = cluster_.share_of(rank).count(samples) * row;
    parts.push_back({4 * end, 4 * values});
    end += values;
  }
  std::vector<float> all(static_cast<size_t>(end));
  float* to = all.data() + parts[static_cast<size_t>(cluster_.rank())].first / 4;
  for (const Tensor* factor : {&inputs, &gradients})
    to = std::copy_n(factor->contiguous().data<float>(), factor->size(), to);
  all_gather(cluster_.ranks(), std::as_writable_bytes(std::span(all)), parts);
  Tensor whole[] = {Tensor({samples, columns[0]}, DType::f32, Device::cpu()),
                    Tensor({samples, columns[1]}, DType::f32, Device::cpu())};
  float* into[] = {whole[0].overwrite<float>(), whole[1].overwrite<float>()};
  const float* from = all.data();
  for (int rank = 0; rank < cluster_.size(); ++rank)
    for (const int i : {0, 1}) {
      const int64_t values = cluster_.share_of(rank).count(samples) * columns[i];
      into[i] = std::copy_n(from, values, into[i]);
      from += values;
    }
  inputs = whole[0].to(inputs.device());
  gradients = whole[1].to(inputs.device());
  return true;
}

/// The pass of one part of this rank's samples. `first`: its position in the minibatch.
ClusterUpdater::Result ClusterUpdater::pass(const nn::Batch& part, int64_t first, int64_t samples,
                                            bool sends) {
  network().set_first_sample(first);
  if (sync_batch_norm_ && samples >= cluster_.size())
    network().set_statistics_sum(
        [&](std::span<float> values) { all_reduce(cluster_.ranks(), values); });
  if (sends)
    network().set_gradient_hook([&](std::span<Tensor> gradients) { exchange_.add(gradients); });
  if (sends && !is_divided_ && factors_ != FactorUse::never)
    network().set_factor_gathering([&, samples](Tensor& inputs, Tensor& gradients) {
      return gather_factors(inputs, gradients, samples);
    });
  const nn::Network::Loss run =
      network().forward_loss(nn::inputs_of(part, network()), part.labels, nn::Phase::train);
  network().backward(static_cast<double>(part.labels.dim(0)) / static_cast<double>(samples));
  leave_network();
  return {run.loss, run.output, part.labels};
}

/// All ranks call this function, also ranks without samples.
void ClusterUpdater::choose_parts(int64_t size, int64_t samples) {
  if (std::exchange(samples_of_parts_, samples) == samples) return;
  parts_ = size > 0 ? network().parts_of_batch(size, nn::Phase::train) : 1;
  float divided = parts_ > 1 ? 1 : 0;
  all_reduce(cluster_.ranks(), {&divided, 1});
  is_divided_ = divided != 0;
}

/// Only the last part sends gradients, because they are complete then.
ClusterUpdater::Result ClusterUpdater::passes(const nn::Batch& batch, int64_t samples,
                                              bool overlaps) {
  const int64_t size = batch.labels.dim(0), first = iterator().share().first(samples);
  const int64_t most = ceil_div(size, parts_);
  const uint64_t random_position = network().random_position();
  std::vector<Tensor> outputs;
  double loss = 0;
  for (int64_t done = 0; done < size; done += most) {
    const int64_t count = std::min(most, size - done);
    const nn::Batch part = {.images = batch.images.slice(0, done, count),
                            .labels = batch.labels.slice(0, done, count),
                            .normalization = batch.normalization};
    network().set_random_position(random_position);
    const Result one = pass(part, first + done, samples, overlaps && done + count == size);
    loss += static_cast<double>(one.loss.item()) * static_cast<double>(count) /
            static_cast<double>(samples);
    outputs.push_back(one.output);
  }
  return {Tensor::full({1}, static_cast<float>(loss), Device::cpu()),
          outputs.size() == 1 ? outputs[0] : concatenate(outputs, 0), batch.labels};
}

ClusterUpdater::Result ClusterUpdater::step() {
  expect_restored();
  if (!begun_) begin();
  const double rate = learning_rate();
  const int64_t samples = samples_of_step();
  network().zero_grad();
  IdleTensors slots(network().device());
  network().add_slots(optimizer(), slots);
  const nn::Batch& batch = next_batch();
  const double share = static_cast<double>(batch.labels.dim(0)) / static_cast<double>(samples);
  // If a rank has no samples, it has no backward pass whose order the others could follow.
  const bool overlaps = samples >= cluster_.size() && tensors_stay_;
  choose_parts(batch.labels.dim(0), samples);
  const uint64_t random_position = network().random_position();
  Result own{.loss = {}, .output = {}, .labels = batch.labels};
  if (share > 0) own = passes(batch, samples, overlaps);
  network().set_first_sample(0);
  network().set_random_position(random_position + 1);
  if (!overlaps) exchange_after_pass();
  exchange_.finish();
  average_states(share);
  optimizer().step(network().parameters(), network().gradients(), rate);
  Result whole = share_results(own, samples);
  if (iterator().is_new_epoch()) share_weights();
  return whole;
}

void ClusterUpdater::exchange_after_pass() {
  IdleTensors idle(network().device());
  network().add_weights(idle);
  for (Tensor& gradient : network().gradients().values) {
    exchange_.add({&gradient, 1});
    if (!tensors_stay_) exchange_.finish();
  }
}

void ClusterUpdater::average_states(double share) {
  if (network().states().empty()) return;
  std::vector<float> values;
  for (const nn::State& state : network().states())
    for (const float value : state.value.to_vector<float>())
      values.push_back(static_cast<float>(share) * value);
  all_reduce(cluster_.ranks(), values);
  const float* from = values.data();
  for (nn::State& state : network().states()) {
    std::copy_n(from, state.value.size(), state.value.overwrite<float>());
    from += state.value.size();
  }
}

/// Sends one message with the loss, the wish to stop, and the outputs and labels of each sample.
ClusterUpdater::Result ClusterUpdater::share_results(const Result& own, int64_t samples) {
  const int64_t values = network().output_shape().elements();  // of a sample's output
  std::vector<RankPart> parts;
  int64_t end = 0;
  for (int rank = 0; rank < cluster_.size(); ++rank) {
    const int64_t rows = cluster_.share_of(rank).count(samples);
    parts.push_back({4 * end, 4 * (2 + rows * (values + 1))});
    end += 2 + rows * (values + 1);
  }
  std::vector<float> all(static_cast<size_t>(end));
  float* to = all.data() + parts[static_cast<size_t>(cluster_.rank())].first / 4;
  const int64_t own_rows = own.labels.dim(0);
  to[1] = stop_ && stop_() ? 1.0f : 0.0f;
  if (own_rows > 0) {
    to[0] = own.loss.item();
    std::copy_n(own.output.contiguous().data<float>(), own_rows * values, to + 2);
    std::memcpy(to + 2 + own_rows * values, own.labels.data<int32_t>(),
                static_cast<size_t>(4 * own_rows));
  }
  all_gather(cluster_.ranks(), std::as_writable_bytes(std::span(all)), parts);

  Shape shape = {samples};
  for (const int64_t dim : network().output_shape()) shape.push_back(dim);
  Result whole{.loss = {},
               .output = Tensor(shape, DType::f32, Device::cpu()),
               .labels = Tensor({samples}, DType::i32, Device::cpu())};
  auto* outputs = whole.output.overwrite<float>();
  auto* labels = whole.labels.overwrite<int32_t>();
  float loss = 0, stops = 0;
  for (int rank = 0; rank < cluster_.size(); ++rank) {
    const float* from = all.data() + parts[static_cast<size_t>(rank)].first / 4;
    const int64_t rows = cluster_.share_of(rank).count(samples);
    loss += from[0];
    stops += from[1];
    outputs = std::copy_n(from + 2, rows * values, outputs);
    if (rows > 0) std::memcpy(labels, from + 2 + rows * values, static_cast<size_t>(4 * rows));
    labels += rows;
  }
  stopped_ = stops > 0;
  whole.loss = Tensor::full({1}, loss, network().device());
  whole.output = whole.output.to(network().device());
  return whole;
}

}  // namespace kaiseki::dist
