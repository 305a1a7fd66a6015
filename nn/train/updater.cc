// SPDX-License-Identifier: MIT
#include "nn/train/updater.h"

#include "base/error.h"

namespace kaiseki::nn {

Updater::Updater(Network& network, Optimizer& optimizer, Iterator& iterator,
                 const Schedule& schedule)
    : network_(network), optimizer_(optimizer), iterator_(iterator), schedule_(schedule) {
  schedule_.check();
  network_.zero_grad(optimizer_);  // plain momentum: the gradients use the velocity's memory
}

const Batch& Updater::next_batch() {
  if (!iterator_.next(batch_))
    throw Error(message("train", "expected an iterator that repeats, got its end"));
  return batch_;
}

Updater::Result Updater::update() {
  next_batch();
  network_.zero_grad(optimizer_);
  Network::Loss result =
      network_.forward_loss(batch_.inputs(network_.device()), batch_.labels, Phase::train);
  network_.backward();
  optimizer_.step(network_.parameters(), network_.gradients(), learning_rate());
  return {result.loss, result.output, batch_.labels};
}

}  // namespace kaiseki::nn
