// SPDX-License-Identifier: MIT
#include "dist/train/snapshots.h"

#include <algorithm>

#include "matrix/ops/copy.h"

namespace kaiseki::dist {
namespace {

constexpr int64_t kFewest = 2, kMost = 8;
constexpr int64_t kBytes = int64_t{1} << 30;

}  // namespace

Snapshots::Snapshots(nn::Updater& updater, int64_t steps) : updater_(updater), steps_(steps) {}

std::vector<Tensor> Snapshots::tensors() {
  nn::Network& network = updater_.network();
  std::vector<Tensor> all;
  for (const nn::Parameter& one : network.parameters()) all.push_back(one.value);
  for (const nn::State& one : network.states()) all.push_back(one.value);
  for (const nn::State& one : updater_.optimizer().states(network.parameters()))
    all.push_back(one.value);
  return all;
}

void Snapshots::keep() {
  const int64_t step = updater_.step();
  if (steps_ <= 0 || (!ring_.empty() && step - ring_.back().step < every_)) return;
  const std::vector<Tensor> tensors = this->tensors();
  if (ring_.empty()) {
    int64_t bytes = 1;
    for (const Tensor& one : tensors) bytes += one.size() * static_cast<int64_t>(sizeof(float));
    const int64_t intervals = std::clamp(kBytes / bytes, kFewest, kMost) - 1;
    most_ = static_cast<size_t>(intervals) + 1;
    every_ = (steps_ + intervals - 1) / intervals;
  }
  Snapshot next;
  if (ring_.size() == most_) {  // reuses the memory of the oldest
    next = std::move(ring_.front());
    ring_.pop_front();
  }
  next.step = step;
  next.iterator = updater_.iterator().state();
  next.random_position = updater_.network().random_position();
  if (next.values.empty())
    for (const Tensor& one : tensors)
      next.values.emplace_back(one.shape(), one.dtype(), Device::cpu());
  for (size_t i = 0; i < tensors.size(); ++i) copy(tensors[i], next.values[i]);
  ring_.push_back(std::move(next));
}

int64_t Snapshots::restore(int64_t step) {
  while (ring_.size() > 1 && ring_.back().step > step) ring_.pop_back();
  const Snapshot& from = ring_.back();
  const std::vector<Tensor> tensors = this->tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor to = tensors[i];
    copy(from.values[i], to);
  }
  updater_.iterator().restore(from.iterator);
  updater_.network().set_random_position(from.random_position);
  updater_.optimizer().set_steps(from.step);
  return from.step;
}

}  // namespace kaiseki::dist
