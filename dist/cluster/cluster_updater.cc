// SPDX-License-Identifier: MIT
#include "dist/cluster/cluster_updater.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "matrix/memory/room.h"

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
      sync_batch_norm_(options.sync_batch_norm) {
  if (iterator.share() != cluster.share())
    throw Error(message("cluster", "expected an iterator with the share of the cluster, got share ",
                        iterator.share().index, " of ", iterator.share().machines));
}

ClusterUpdater::~ClusterUpdater() { leave_network(); }

void ClusterUpdater::leave_network() {
  network().set_gradient_hook({});
  network().set_statistics_sum({});
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

/// Also after each epoch, because devices of several kinds may round differently. All ranks must
/// exchange in the same way, so they agree on it.
void ClusterUpdater::share_weights() {
  if (shared_epoch_ == iterator().epoch()) return;
  shared_epoch_ = iterator().epoch();
  float moving = tensors_stay(network().device()) ? 0 : 1;
  all_reduce(cluster_.ranks(), {&moving, 1});
  tensors_stay_ = moving == 0;
  for (nn::Parameter& one : network().parameters())
    broadcast(cluster_.ranks(), bytes_of(one.value));
  for (nn::State& one : network().states()) broadcast(cluster_.ranks(), bytes_of(one.value));
  for (nn::State& one : optimizer().states(network().parameters()))
    broadcast(cluster_.ranks(), bytes_of(one.value));
}

ClusterUpdater::Result ClusterUpdater::pass(const nn::Batch& batch, int64_t samples,
                                            bool overlaps) {
  const Device device = network().device();
  leave_network();
  if (sync_batch_norm_ && samples >= cluster_.size())
    network().set_statistics_sum(
        [&](std::span<float> values) { all_reduce(cluster_.ranks(), values); });
  if (overlaps)
    network().set_gradient_hook([&](std::span<Tensor> gradients) { exchange_.add(gradients); });
  const nn::Network::Loss run =
      network().forward_loss(batch.inputs(device), batch.labels, nn::Phase::train);
  network().backward(static_cast<double>(batch.labels.dim(0)) / static_cast<double>(samples));
  leave_network();
  return {run.loss, run.output, batch.labels};
}

void ClusterUpdater::exchange_after_pass() {
  for (Tensor& gradient : network().gradients().values) {
    exchange_.add({&gradient, 1});
    if (!tensors_stay_) exchange_.finish();
  }
}

ClusterUpdater::Result ClusterUpdater::step() {
  expect_restored();
  share_weights();
  const double rate = learning_rate();
  const int64_t samples = samples_of_step(), first = iterator().share().first(samples);
  network().zero_grad();
  const nn::Batch& batch = next_batch();
  const double share = static_cast<double>(batch.labels.dim(0)) / static_cast<double>(samples);
  // If a rank has no samples, it has no backward pass whose order the others could follow.
  const bool overlaps = samples >= cluster_.size() && tensors_stay_;
  const uint64_t random_position = network().random_position();
  Result own{.loss = {}, .output = {}, .labels = batch.labels};
  network().set_first_sample(first);
  if (share > 0) own = pass(batch, samples, overlaps);
  network().set_first_sample(0);
  network().set_random_position(random_position + 1);
  if (!overlaps) exchange_after_pass();
  exchange_.finish();
  average_states(share);
  optimizer().step(network().parameters(), network().gradients(), rate);
  return share_results(own, share, samples);
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

/// One message for the loss, the end of the training, and the outputs and labels of each sample.
ClusterUpdater::Result ClusterUpdater::share_results(const Result& own, double share,
                                                     int64_t samples) {
  const Shape output = network().output_shape();
  const int64_t classes = output.rank() == 1 ? output[0] : 0;
  const auto numbers = [&](int64_t rows) { return 2 + rows * (classes + 1); };
  std::vector<RankPart> parts;
  int64_t end = 0;
  for (int rank = 0; rank < cluster_.size(); ++rank) {
    const int64_t count = numbers(part_of_rank(samples, rank, cluster_.size()).count);
    parts.push_back({4 * end, 4 * count});
    end += count;
  }
  std::vector<float> all(static_cast<size_t>(end));
  float* to = all.data() + parts[static_cast<size_t>(cluster_.rank())].first / 4;
  to[0] = share > 0 ? static_cast<float>(share) * own.loss.item() : 0;
  to[1] = stop_ && stop_() ? 1.0f : 0.0f;
  const int64_t rows = own.labels.dim(0);
  if (rows > 0) {
    if (classes > 0) std::copy_n(own.output.contiguous().data<float>(), rows * classes, to + 2);
    std::memcpy(to + 2 + rows * classes, own.labels.data<int32_t>(), static_cast<size_t>(4 * rows));
  }
  all_gather(cluster_.ranks(), std::as_writable_bytes(std::span(all)), parts);

  Result whole{
      .loss = {},
      .output = classes > 0 ? Tensor({samples, classes}, DType::f32, Device::cpu()) : own.output,
      .labels = Tensor({samples}, DType::i32, Device::cpu())};
  float loss = 0, stops = 0;
  int64_t done = 0;
  for (int rank = 0; rank < cluster_.size(); ++rank) {
    const float* from = all.data() + parts[static_cast<size_t>(rank)].first / 4;
    const int64_t count = part_of_rank(samples, rank, cluster_.size()).count;
    loss += from[0];
    stops += from[1];
    if (classes > 0)
      std::copy_n(from + 2, count * classes, whole.output.mutable_data<float>() + done * classes);
    if (count > 0)
      std::memcpy(whole.labels.mutable_data<int32_t>() + done, from + 2 + count * classes,
                  static_cast<size_t>(4 * count));
    done += count;
  }
  stopped_ = stops > 0;
  whole.loss = Tensor::full({1}, loss, network().device());
  if (classes > 0) whole.output = whole.output.to(network().device());
  return whole;
}

}  // namespace kaiseki::dist
