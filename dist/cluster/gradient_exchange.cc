// SPDX-License-Identifier: MIT
#include "dist/cluster/gradient_exchange.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/timeline.h"

namespace kaiseki::dist {

GradientExchange::GradientExchange(Communicator& ranks, uint64_t bytes,
                                   const ExchangeOptions& options)
    : ranks_(ranks),
      wire_(options.wire),
      bucket_bytes_(options.bucket_bytes.value_or(
          std::clamp<uint64_t>(bytes / 4, uint64_t{64} << 10, uint64_t{4} << 20))),
      thread_([this] { run(); }) {}

GradientExchange::~GradientExchange() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GradientExchange::add(std::span<float> values) {
  if (values.empty()) return;
  filling_.push_back(values);
  filled_ += values.size_bytes();
  if (filled_ >= bucket_bytes_) queue();
}

void GradientExchange::add(std::span<Tensor> tensors) {
  for (Tensor& tensor : tensors)
    add(std::span(tensor.mutable_data<float>(), static_cast<size_t>(tensor.size())));
}

void GradientExchange::queue() {
  if (filling_.empty()) return;
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::exchange(filling_, {}));
  }
  filled_ = 0;
  changed_.notify_all();
}

void GradientExchange::finish() {
  queue();
  const double begin = steady_seconds();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() || error_; });
  seconds_.waiting += steady_seconds() - begin;
  if (error_) std::rethrow_exception(error_);
}

GradientExchange::Seconds GradientExchange::seconds() const {
  std::lock_guard lock(mutex_);
  return seconds_;
}

void GradientExchange::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Bucket bucket = waiting_.front();
    lock.unlock();
    const double begin = steady_seconds();
    std::exception_ptr error;
    try {
      reduce(bucket);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    seconds_.exchanging += steady_seconds() - begin;
    waiting_.pop_front();
    if (error) error_ = error, waiting_.clear();
    changed_.notify_all();
    if (error) return;
  }
}

void GradientExchange::reduce(const Bucket& bucket) {
  uint64_t bytes = 0;
  for (const auto& values : bucket) bytes += values.size_bytes();
  const TimelineSpan span("exchange", "all-reduce", bytes);
  if (bucket.size() == 1) return all_reduce(ranks_, bucket[0], wire_);
  packed_.clear();
  for (const auto& values : bucket) packed_.insert(packed_.end(), values.begin(), values.end());
  all_reduce(ranks_, packed_, wire_);
  const float* from = packed_.data();
  for (const auto& values : bucket) {
    std::copy_n(from, values.size(), values.begin());
    from += values.size();
  }
}

}  // namespace kaiseki::dist
