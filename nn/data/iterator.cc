// SPDX-License-Identifier: MIT
#include "nn/data/iterator.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "matrix/ceil_div.h"

namespace kaiseki::nn {
namespace {

/// Numbers of random streams. The top bits select the purpose, so no other part of the library uses
/// these streams.
uint64_t shuffle_stream(int64_t epoch) { return uint64_t{3} << 62 | static_cast<uint64_t>(epoch); }
uint64_t augmentation_stream(int64_t epoch, int64_t index) {
  return uint64_t{2} << 62 | (static_cast<uint64_t>(epoch) & 0x3fffff) << 40 |
         static_cast<uint64_t>(index);
}

int workers_of(const IteratorOptions& options) {
  return options.workers.value_or(
      std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, 8));
}

size_t most_jobs_of(const IteratorOptions& options) {
  return static_cast<size_t>(std::max(options.prefetch, workers_of(options) + 1));
}

using Order = std::shared_ptr<const std::vector<int64_t>>;

Order make_order(int64_t size, bool shuffle, uint64_t seed, int64_t epoch) {
  auto order = std::make_shared<std::vector<int64_t>>();
  try {
    order->resize(static_cast<size_t>(size));
  } catch (const std::exception&) {
    throw Error(
        message("iterator", "not enough memory for the order of ", size, " samples, 8 bytes each"));
  }
  std::iota(order->begin(), order->end(), int64_t{0});
  if (shuffle) {
    Random random(seed, shuffle_stream(epoch));
    for (size_t i = order->size(); i > 1; --i)
      std::swap((*order)[i - 1], (*order)[random.below(i)]);
  }
  return order;
}

}  // namespace

/// Background threads that prepare batches. The queue `jobs` keeps the batches in their order.
struct Iterator::Worker {
  struct Job {
    int64_t epoch = 0, position = 0, count = 0;
    Order order;
    Batch batch;
    std::exception_ptr error;
    bool ready = false;
  };

  Worker(const Dataset& data, const IteratorOptions& how, const IteratorState& from)
      : dataset(data), options(how), state(from) {
    const int workers = workers_of(options);
    threads.reserve(static_cast<size_t>(workers));
    try {
      for (int i = 0; i < workers; ++i) threads.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {
      if (threads.empty())
        throw Error(message("iterator", "cannot start a background thread: ", error.what()));
    }
  }

  ~Worker() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
    }
    room.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  /// Appends the next job and returns it, or returns null at the end. The caller holds the lock.
  Job* plan() {
    if (state.position == dataset.size()) {
      ++state.epoch;
      state.position = 0;
      order.reset();
    }
    if (!options.repeat && state.epoch > first_epoch) return nullptr;
    if (!order) order = make_order(dataset.size(), options.shuffle, state.seed, state.epoch);
    Job job;
    job.epoch = state.epoch;
    job.position = state.position;
    job.count = std::min(options.batch_size, dataset.size() - state.position);
    job.order = order;
    state.position += job.count;
    jobs.push_back(std::make_unique<Job>(std::move(job)));
    return jobs.back().get();
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      room.wait(lock, [&] { return stopping || jobs.size() < most_jobs; });
      if (stopping || plan_error) return;
      Job* job = nullptr;
      try {
        job = plan();
      } catch (...) {
        plan_error = std::current_exception();
      }
      if (!job) {
        finished = true;
        done.notify_all();
        return;
      }
      lock.unlock();
      try {
        make(*job);
      } catch (...) {
        job->error = std::current_exception();
      }
      lock.lock();
      job->ready = true;
      done.notify_all();
    }
  }

  void make(Job& job) const {
    Shape sample = dataset.sample_shape();
    const int64_t first = job.position + options.share.first(job.count);
    const int64_t count = options.share.count(job.count);
    job.batch = {Tensor({count, sample[0], sample[1], sample[2]}, DType::u8, Device::cpu()),
                 Tensor({count}, DType::i32, Device::cpu()), dataset.normalization()};
    uint8_t* images = job.batch.images.overwrite<uint8_t>();
    int32_t* labels = job.batch.labels.overwrite<int32_t>();
    int64_t elements = sample.elements();
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = (*job.order)[static_cast<size_t>(first + i)];
      Random augmentation(state.seed, augmentation_stream(job.epoch, index));
      dataset.read(index, images + i * elements, labels[i], augmentation);
    }
    if (options.files) read_files(job, first, count);
  }

  void read_files(Job& job, int64_t first, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = (*job.order)[static_cast<size_t>(first + i)];
      Random augmentation(state.seed, augmentation_stream(job.epoch, index));
      std::optional<SampleFile> file = dataset.file(index, augmentation);
      if (!file) return job.batch.files.clear();
      job.batch.files.push_back(std::move(*file));
    }
  }

  /// Tensors leave a device for allocations of their own thread only.
  void make_again(Job& job) const {
    try {
      std::rethrow_exception(job.error);
    } catch (const OutOfMemory&) {
      make(job);
    }
  }

  /// Waits for the first job of the queue and removes it. Returns null at the end. Rethrows the
  /// job's exception.
  std::unique_ptr<Job> take() {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return jobs.empty() ? finished : jobs.front()->ready; });
    if (jobs.empty() && plan_error) std::rethrow_exception(plan_error);
    if (jobs.empty()) return nullptr;
    auto job = std::move(jobs.front());
    jobs.pop_front();
    room.notify_one();
    lock.unlock();
    if (job->error) make_again(*job);
    return job;
  }

  const Dataset& dataset;
  IteratorOptions options;
  size_t most_jobs = most_jobs_of(options);  // ready or in preparation
  IteratorState state;                       // of the next job
  int64_t first_epoch = state.epoch;
  Order order;
  std::deque<std::unique_ptr<Job>> jobs;
  bool stopping = false, finished = false;
  std::exception_ptr plan_error;
  std::mutex mutex;
  std::condition_variable room, done;
  std::vector<std::thread> threads;
};

Iterator::Iterator(std::shared_ptr<const Dataset> dataset, const IteratorOptions& options)
    : dataset_(std::move(dataset)), options_(options) {
  if (!dataset_ || dataset_->size() == 0)
    throw Error(message("iterator", "expected a data set with samples, got an empty one"));
  if (options.workers && *options.workers < 1)
    throw Error(message("iterator", "expected 1 or more workers, got ", *options.workers));
  if (options.share.index < 0 || options.share.index >= options.share.parts)
    throw Error(message("iterator", "expected a share from 0 to ", options.share.parts - 1,
                        ", got ", options.share.index));
  set_batch_size(options.batch_size);
  state_.seed = options_.seed;
}

void Iterator::set_batch_size(int64_t batch_size) {
  if (batch_size < 1)
    throw Error(message("iterator", "expected a batch size of 1 or more, got ", batch_size));
  worker_.reset();  // its batches have the old size
  options_.batch_size = batch_size;
}

Iterator::~Iterator() = default;

bool Iterator::next(Batch& batch) {
  const bool first = !worker_;
  if (first) worker_ = std::make_unique<Worker>(*dataset_, options_, state_);
  std::unique_ptr<Worker::Job> job;
  const double start = steady_seconds();
  try {
    job = worker_->take();
  } catch (...) {
    worker_.reset();
    throw;
  }
  if (!first) wait_seconds_ += steady_seconds() - start;
  if (!job) return false;
  batch = std::move(job->batch);
  state_.epoch = job->epoch;
  state_.position = job->position + job->count;
  is_new_epoch_ = state_.position == dataset_->size();
  if (is_new_epoch_) {
    ++state_.epoch;
    state_.position = 0;
  }
  return true;
}

bool Iterator::is_new_epoch() const { return is_new_epoch_; }

double Iterator::epoch_detail() const {
  return static_cast<double>(state_.epoch) +
         static_cast<double>(state_.position) / static_cast<double>(dataset_->size());
}

int64_t Iterator::batches_per_epoch() const {
  return ceil_div(dataset_->size(), options_.batch_size);
}

int64_t Iterator::batch_size() const { return options_.batch_size; }

uint64_t Iterator::most_bytes() const {
  const int64_t samples = std::min(options_.batch_size, dataset_->size());
  const int64_t images = samples * dataset_->sample_shape().elements();
  const int64_t labels = samples * static_cast<int64_t>(sizeof(int32_t));
  return (most_jobs_of(options_) + 1) * static_cast<uint64_t>(images + labels);
}

void Iterator::restore(const IteratorState& state) {
  if (state.epoch < 0 || state.position < 0 || state.position >= dataset_->size())
    throw Error(message("iterator", "expected a position in 0..", dataset_->size() - 1,
                        ", got epoch ", state.epoch, ", position ", state.position));
  worker_.reset();
  state_ = state;
  is_new_epoch_ = false;
}

}  // namespace kaiseki::nn
