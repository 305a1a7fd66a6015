// SPDX-License-Identifier: MIT
#include "ml/svm/kernel_cache.h"

#include <algorithm>
#include <utility>

#include "matrix/ops/index.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kLeastRowsPerLoad = 32;
constexpr int64_t kProductsPerLoad = int64_t{1} << 22;  // a small matrix is computed at once

}  // namespace

KernelCache::KernelCache(KernelFunction function, KernelSamples samples,
                         std::vector<int64_t> begins, int64_t bytes)
    : function_(std::move(function)),
      samples_(std::move(samples)),
      begins_(std::move(begins)),
      diagonal_(kernel_diagonal(function_, samples_)),
      // Two rows of a pair of groups must fit, with one more load of each.
      capacity_(std::max(bytes, 8 * samples_.rows.dim(0) * static_cast<int64_t>(sizeof(float)))) {}

const float* KernelCache::find(int64_t sample, int64_t group) {
  const auto found = segments_.find(key(sample, group));
  if (found == segments_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second.position);
  return found->second.values.data();
}

int64_t KernelCache::segments_that_fit(int64_t group) const {
  return capacity_ / (group_size(group) * static_cast<int64_t>(sizeof(float)));
}

void KernelCache::make_room(int64_t bytes) {
  if (used_ + bytes <= capacity_) return;
  ++generation_;
  while (!recent_.empty() && used_ + bytes > capacity_) {
    const auto last = segments_.find(recent_.back());
    used_ -= static_cast<int64_t>(last->second.values.size() * sizeof(float));
    segments_.erase(last);
    recent_.pop_back();
  }
}

void KernelCache::load(const std::vector<int64_t>& samples, int64_t group) {
  std::vector<int32_t> missing;
  for (int64_t sample : samples)
    if (!find(sample, group)) missing.push_back(static_cast<int32_t>(sample));
  if (missing.empty()) return;
  const int64_t begin = group_begin(group), size = group_size(group);
  const int64_t bytes = size * static_cast<int64_t>(sizeof(float));
  make_room(bytes * static_cast<int64_t>(missing.size()));
  const Tensor indices = tensor_from(missing, samples_.rows.device());
  KernelSamples rows{take(samples_.rows, indices, 0), {}};
  if (samples_.norms.defined()) rows.norms = take(samples_.norms, indices, 0);
  const Tensor block = on_host(kernel_block(function_, rows, samples_.slice(begin, size)));
  const float* values = block.data<float>();
  // The first ones become the most recent ones.
  for (size_t i = missing.size(); i-- > 0;) {
    const float* first = values + static_cast<int64_t>(i) * size;
    const int64_t own = missing[i] - begin, id = key(missing[i], group);
    recent_.push_front(id);
    Segment& segment = segments_[id];
    segment = {{first, first + size}, recent_.begin()};
    if (own >= 0 && own < size) segment.values[own] = static_cast<float>(diagonal_[missing[i]]);
  }
  used_ += bytes * static_cast<int64_t>(missing.size());
  computed_ += static_cast<int64_t>(missing.size());
}

PairRows::PairRows(KernelCache& cache, int64_t first, int64_t second)
    : cache_(cache),
      first_(first),
      second_(second),
      first_begin_(cache.group_begin(first)),
      second_begin_(cache.group_begin(second)),
      first_size_(cache.group_size(first)),
      second_size_(cache.group_size(second)),
      generation_(cache.generation()),
      rows_(static_cast<size_t>(first_size_ + second_size_), Row{nullptr, nullptr}) {
  const int64_t products = size() * cache.samples().rows.dim(1);
  const int64_t fit = std::min(cache.segments_that_fit(first), cache.segments_that_fit(second));
  rows_per_load_ = std::clamp(kProductsPerLoad / products, kLeastRowsPerLoad,
                              std::max(kLeastRowsPerLoad, size()));
  rows_per_load_ = std::clamp<int64_t>(rows_per_load_, 1, std::max<int64_t>(1, fit / 4));
}

bool PairRows::contains(int64_t variable) {
  if (generation_ != cache_.generation()) {
    std::fill(rows_.begin(), rows_.end(), Row{nullptr, nullptr});
    generation_ = cache_.generation();
  }
  Row& row = rows_[variable];
  if (row.first) return true;
  const float *first = cache_.find(sample(variable), first_),
              *second = cache_.find(sample(variable), second_);
  if (!first || !second) return false;
  row = {first, second};
  return true;
}

void PairRows::load(const std::vector<int64_t>& variables, int64_t keep) {
  std::vector<int64_t> samples;
  for (int64_t variable : variables) samples.push_back(sample(variable));
  const auto use = [&](int64_t s) {
    cache_.find(s, first_);
    cache_.find(s, second_);
  };
  // What is used last is discarded last.
  for (size_t i = samples.size(); i-- > 0;) use(samples[i]);
  if (keep >= 0) use(sample(keep));
  cache_.load(samples, first_);
  if (second_ != first_) {
    if (keep >= 0) use(sample(keep));
    cache_.load(samples, second_);
  }
  if (keep >= 0) contains(keep);
  contains(variables.front());
}

}  // namespace kaiseki::ml
