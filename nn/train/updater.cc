// SPDX-License-Identifier: MIT
#include "nn/train/updater.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"

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

const Batch& Updater::next_batch() {
  if (!iterator_.next(batch_))
    throw Error(message("train", "expected an iterator that repeats, got its end"));
  return batch_;
}

/// The loss is a mean over samples, so each minibatch counts by its part of the samples.
Updater::Result Updater::accumulated() {
  const int64_t samples = samples_of_step();
  const uint64_t position = network_.random_position();
  struct Reset {
    Network& network;
    ~Reset() { network.set_first_sample(0); }
  } reset{network_};
  Tensor loss;
  std::vector<Tensor> outputs, labels;
  for (int64_t first = 0; first < samples;) {
    next_batch();
    // Dropout draws the numbers of one large minibatch.
    network_.set_random_position(position);
    network_.set_first_sample(first);
    const Network::Loss part =
        network_.forward_loss(batch_.inputs(network_.device()), batch_.labels, Phase::train);
    const double share = static_cast<double>(batch_.labels.dim(0)) / static_cast<double>(samples);
    network_.backward(share);
    const Tensor weighted =
        elementwise("share * loss", {{"share", static_cast<float>(share)}, {"loss", part.loss}});
    loss = loss.defined() ? Tensor(loss + weighted) : weighted;
    outputs.push_back(part.output);
    labels.push_back(batch_.labels);
    first += batch_.labels.dim(0);
  }
  return {loss, concatenate(outputs, 0), concatenate(labels, 0)};
}

Updater::Result Updater::of_one_minibatch() {
  next_batch();
  const Network::Loss run =
      network_.forward_loss(batch_.inputs(network_.device()), batch_.labels, Phase::train);
  network_.backward();
  return {run.loss, run.output, batch_.labels};
}

Updater::Result Updater::update() {
  const double rate = learning_rate();
  network_.zero_grad(optimizer_);
  Result result = accumulate_ == 1 ? of_one_minibatch() : accumulated();
  optimizer_.step(network_.parameters(), network_.gradients(), rate);
  return result;
}

}  // namespace kaiseki::nn
