// SPDX-License-Identifier: MIT
#include "nn/train/updater.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/timeline.h"
#include "matrix/ceil_div.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/idle_tensors.h"
#include "matrix/memory/room.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "nn/train/network_batch.h"

namespace kaiseki::nn {

Updater::Updater(Network& network, Optimizer& optimizer, Iterator& iterator,
                 const Schedule& schedule, int64_t accumulate)
    : network_(network),
      optimizer_(optimizer),
      iterator_(iterator),
      schedule_(schedule),
      accumulate_(accumulate) {
  schedule_.check();
  if (accumulate < 1)
    throw Error(message("train", "expected 1 or more minibatches in a step, got ", accumulate));
  network_.zero_grad(optimizer_);  // plain momentum: the gradients use the velocity's memory
}

int64_t Updater::samples_of_step() const {
  return std::min(accumulate_ * iterator_.batch_size(),
                  iterator_.dataset().size() - iterator_.position());
}

double Updater::learning_rate() const {
  const int64_t first = iterator_.epoch() * iterator_.dataset().size() + iterator_.position();
  return rate_scale_ * schedule_.at(first, samples_of_step());
}

void Updater::expect_restored() const {
  if (!restore_error_) return;
  std::string cause = "unknown";
  try {
    std::rethrow_exception(restore_error_);
  } catch (const std::exception& error) {
    cause = error.what();
  } catch (...) {  // without a text
  }
  throw RunNotRestored(message("train", "the run could not be restored after a trial: ", cause));
}

const Batch& Updater::next_batch() {
  if (!nn::next_batch(iterator_, network_, batch_))
    throw Error(message("train", "expected an iterator that repeats, got its end"));
  return batch_;
}

/// Returns a tensor as large as all batches that the iterator prepares. It is not defined if a
/// budget has no room for it, or if there is no budget. Other threads allocate at the same time, so
/// a check alone would not be enough.
Tensor Updater::reserve_batches() const {
  const Device device = network_.device();
  const uint64_t bytes = iterator_.most_bytes();
  IdleTensors idle(device);
  add_idle(idle);
  const std::optional<uint64_t> room = room_for_tensors(device);
  if (!device.is_cpu() || !room ||
      *room + device.memory().idle_bytes().on_device < device.memory().rounded(bytes))
    return {};
  try {
    Tensor batches({static_cast<int64_t>(bytes)}, DType::u8, device);
    batches.buffer().return_to_device();  // with a store, the tensor may start outside the device
    return batches;
  } catch (const OutOfMemory&) {
    return {};
  }
}

void Updater::add_idle(IdleTensors& idle) const {
  network_.add_weights(idle);
  network_.add_slots(optimizer_, idle);
}

/// Creates the tensors of the optimizer first, so that their memory counts. On the CPU, the memory
/// of the batches counts, too.
void Updater::choose_parts() {
  const int64_t size = iterator_.batch_size();
  if (parts_of_size_ == size) return;
  parts_ = 1;
  if (computes_alone()) {
    optimizer_.states(network_.parameters());
    batch_ = {};
    iterator_.set_batch_size(size);  // frees the prepared batches, which would count twice
    const Tensor batches = reserve_batches();
    IdleTensors slots(network_.device());
    network_.add_slots(optimizer_, slots);
    parts_ = network_.parts_of_batch(size, Phase::train);
  }
  parts_of_size_ = size;  // after an exception, the next iteration chooses again
  if (parts_ > 1)
    log_warning_once("the device has memory for " + std::to_string(ceil_div(size, parts_)) +
                     " samples, so a minibatch of " + std::to_string(size) + " runs in " +
                     std::to_string(parts_) + " parts");
}

/// The loss is a mean over samples, so each part counts by its share of the samples. Dropout draws
/// the numbers of one large minibatch.
void Updater::add(const Batch& part, PartialSums& to) {
  network_.set_random_position(to.random_position);
  network_.set_first_sample(to.done);
  const Network::Loss run =
      network_.forward_loss(inputs_of(part, network_), part.labels, Phase::train);
  const double share = static_cast<double>(part.labels.dim(0)) / static_cast<double>(to.samples);
  network_.backward(share);
  const Tensor weighted =
      elementwise("share * loss", {{"share", static_cast<float>(share)}, {"loss", run.loss}});
  to.loss = to.loss.defined() ? Tensor(to.loss + weighted) : weighted;
  to.outputs.push_back(run.output);
  to.labels.push_back(part.labels);
  to.done += part.labels.dim(0);
}

Updater::Result Updater::accumulated() {
  struct Reset {
    Network& network;
    ~Reset() { network.set_first_sample(0); }
  } reset{network_};
  PartialSums parts{.samples = samples_of_step(), .random_position = network_.random_position()};
  const int64_t most = ceil_div(iterator_.batch_size(), parts_);
  while (parts.done < parts.samples) {
    next_batch();
    const int64_t size = batch_.labels.dim(0);
    for (int64_t first = 0; first < size; first += most) {
      const int64_t count = std::min(most, size - first);
      add({.images = batch_.images.slice(0, first, count),
           .labels = batch_.labels.slice(0, first, count),
           .normalization = batch_.normalization},
          parts);
    }
  }
  return {parts.loss, concatenate(parts.outputs, 0), concatenate(parts.labels, 0)};
}

Updater::Result Updater::of_one_minibatch() {
  next_batch();
  const Network::Loss run =
      network_.forward_loss(inputs_of(batch_, network_), batch_.labels, Phase::train);
  network_.backward();
  return {run.loss, run.output, batch_.labels};
}

Updater::Result Updater::update() {
  expect_restored();
  const double rate = learning_rate();
  network_.zero_grad(optimizer_);
  choose_parts();
  IdleTensors slots(network_.device());
  network_.add_slots(optimizer_, slots);
  Result result = accumulate_ == 1 && parts_ == 1 ? of_one_minibatch() : accumulated();
  std::optional<TimelineSpan> span;  // only on the CPU; other devices record their queues
  if (network_.device().is_cpu()) span.emplace("steps", "update");
  optimizer_.step(network_.parameters(), network_.gradients(), rate);
  return result;
}

}  // namespace kaiseki::nn
