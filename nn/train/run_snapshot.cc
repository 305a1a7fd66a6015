// SPDX-License-Identifier: MIT
#include "nn/train/run_snapshot.h"

#include <exception>

#include "matrix/ops/copy.h"
#include "nn/train/updater.h"

namespace kaiseki::nn {
namespace {

std::vector<Tensor> tensors_of(Updater& updater) {
  Network& network = updater.network();
  std::vector<Tensor> all;
  for (const Parameter& one : network.parameters()) all.push_back(one.value);
  for (const State& one : network.states()) all.push_back(one.value);
  for (const State& one : updater.optimizer().states(network.parameters()))
    all.push_back(one.value);
  return all;
}

}  // namespace

void RunSnapshot::keep(Updater& updater) {
  updater.expect_restored();
  const std::vector<Tensor> tensors = tensors_of(updater);
  IdleTensors idle(updater.network().device());
  for (const Tensor& one : tensors) idle.add(one);
  if (values_.empty()) {
    copies_ = std::make_unique<IdleTensors>(Device::cpu());
    for (const Tensor& one : tensors)
      copies_->add(values_.emplace_back(one.shape(), one.dtype(), Device::cpu()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) copy_into(values_[i], tensors[i]);
  iterator_ = updater.iterator().state();
  random_position_ = updater.network().random_position();
  step_ = updater.step();
}

void RunSnapshot::restore(Updater& updater) const {
  try {
    updater.iterator().restore(iterator_);  // first, as it frees the batches that it has prepared
    std::vector<Tensor> tensors = tensors_of(updater);
    IdleTensors idle(updater.network().device());
    for (const Tensor& one : tensors) idle.add(one);
    for (size_t i = 0; i < tensors.size(); ++i) copy_into(tensors[i], values_[i]);
    updater.network().set_random_position(random_position_);
    updater.optimizer().set_steps(step_);
    updater.set_restore_error(nullptr);
  } catch (...) {
    updater.set_restore_error(std::current_exception());
  }
  updater.expect_restored();
}

uint64_t RunSnapshot::bytes() const {
  uint64_t sum = 0;
  for (const Tensor& one : values_) sum += one.bytes();
  return sum;
}

}  // namespace kaiseki::nn
