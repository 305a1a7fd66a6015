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
      capacity_(std::max(bytes, 8 * samples_.rows.dim(0) * static_cast<int64_t>(sizeof(float)))),
      index_(begins_.size() - 1, std::vector<Segment*>(static_cast<size_t>(samples_.rows.dim(0)))) {
}

void KernelCache::unlink(const Segment& segment) {
  (segment.older ? segment.older->newer : oldest_) = segment.newer;
  (segment.newer ? segment.newer->older : newest_) = segment.older;
}

void KernelCache::make_newest(Segment& segment) {
  segment.older = newest_;
  segment.newer = nullptr;
  (newest_ ? newest_->newer : oldest_) = &segment;
  newest_ = &segment;
}

const float* KernelCache::use(int64_t sample, int64_t group) {
  Segment* segment = index_[group][sample];
  if (!segment) return nullptr;
  unlink(*segment);
  make_newest(*segment);
  return segment->values.get();
}

void KernelCache::insert(int64_t sample, int64_t group, const float* values) {
  if (unused_.empty()) unused_.push_back(&segments_.emplace_back());
  Segment& segment = *unused_.back();
  unused_.pop_back();
  const int64_t size = group_size(group), own = sample - group_begin(group);
  segment.values.reset(new float[static_cast<size_t>(size)]);
  std::copy(values, values + size, segment.values.get());
  if (own >= 0 && own < size) segment.values[own] = static_cast<float>(diagonal_[sample]);
  segment.sample = static_cast<int32_t>(sample);
  segment.group = static_cast<int32_t>(group);
  index_[group][sample] = &segment;
  make_newest(segment);
  used_ += size * static_cast<int64_t>(sizeof(float));
  ++computed_;
}

int64_t KernelCache::segments_that_fit(int64_t group) const {
  return capacity_ / (group_size(group) * static_cast<int64_t>(sizeof(float)));
}

void KernelCache::make_room(int64_t bytes) {
  if (used_ + bytes <= capacity_) return;
  ++generation_;
  while (oldest_ && used_ + bytes > capacity_) {
    Segment& segment = *oldest_;
    unlink(segment);
    segment.values.reset();
    index_[segment.group][segment.sample] = nullptr;
    used_ -= group_size(segment.group) * static_cast<int64_t>(sizeof(float));
    unused_.push_back(&segment);
  }
}

void KernelCache::load(const std::vector<int64_t>& samples, int64_t group) {
  std::vector<int32_t> missing;
  for (int64_t sample : samples)
    if (!use(sample, group)) missing.push_back(static_cast<int32_t>(sample));
  if (missing.empty()) return;
  const int64_t begin = group_begin(group), size = group_size(group);
  make_room(size * std::ssize(missing) * static_cast<int64_t>(sizeof(float)));
  const Tensor indices = tensor_from(missing, samples_.rows.device());
  KernelSamples rows{take(samples_.rows, indices, 0), {}};
  if (samples_.norms.defined()) rows.norms = take(samples_.norms, indices, 0);
  const Tensor block = on_host(kernel_block(function_, rows, samples_.slice(begin, size)));
  const float* values = block.data<float>();
  // The first ones become the newest.
  for (int64_t i = std::ssize(missing); i-- > 0;) insert(missing[i], group, values + i * size);
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

bool PairRows::use(int64_t variable) {
  if (generation_ != cache_.generation()) {
    std::fill(rows_.begin(), rows_.end(), Row{nullptr, nullptr});
    generation_ = cache_.generation();
  }
  Row& row = rows_[variable];
  if (row.first) return true;
  const float *first = cache_.use(sample(variable), first_),
              *second = cache_.use(sample(variable), second_);
  if (!first || !second) return false;
  row = {first, second};
  return true;
}

void PairRows::load(const std::vector<int64_t>& variables, std::optional<int64_t> keep) {
  std::vector<int64_t> samples;
  for (int64_t variable : variables) samples.push_back(sample(variable));
  const auto touch = [&](int64_t s) {
    cache_.use(s, first_);
    cache_.use(s, second_);
  };
  // The row that was used last is discarded last.
  for (size_t i = samples.size(); i-- > 0;) touch(samples[i]);
  if (keep) touch(sample(*keep));
  cache_.load(samples, first_);
  if (second_ != first_) {
    if (keep) touch(sample(*keep));
    cache_.load(samples, second_);
  }
  if (keep) this->use(*keep);
  this->use(variables.front());
}

}  // namespace kaiseki::ml
