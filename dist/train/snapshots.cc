// SPDX-License-Identifier: MIT
#include "dist/train/snapshots.h"

#include <algorithm>
#include <utility>

#include "matrix/ceil_div.h"

namespace kaiseki::dist {
namespace {

constexpr int64_t kFewest = 2, kMost = 8;
constexpr int64_t kBytes = int64_t{1} << 30;

}  // namespace

Snapshots::Snapshots(nn::Updater& updater, int64_t steps) : updater_(updater), steps_(steps) {}

void Snapshots::keep() {
  if (steps_ <= 0 || (!ring_.empty() && updater_.step() - ring_.back().step() < every_)) return;
  nn::RunSnapshot next;
  if (ring_.size() == most_) {  // reuses the memory of the oldest
    next = std::move(ring_.front());
    ring_.pop_front();
  }
  next.keep(updater_);
  if (ring_.empty()) {
    const int64_t bytes = std::max<int64_t>(1, static_cast<int64_t>(next.bytes()));
    const int64_t intervals = std::clamp(kBytes / bytes, kFewest, kMost) - 1;
    most_ = static_cast<size_t>(intervals) + 1;
    every_ = ceil_div(steps_, intervals);
  }
  ring_.push_back(std::move(next));
}

int64_t Snapshots::restore(int64_t step) {
  while (ring_.size() > 1 && ring_.back().step() > step) ring_.pop_back();
  ring_.back().restore(updater_);
  return ring_.back().step();
}

}  // namespace kaiseki::dist
