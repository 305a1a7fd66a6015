// SPDX-License-Identifier: MIT
// GradientExchange: sums gradients over the ranks while the backward pass computes others. A thread
// of its own sends them in buckets, so that small gradients share messages (Li et al. 2020,
// "PyTorch distributed: experiences on accelerating data parallel training", section 3.2).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "dist/cluster/collectives.h"
#include "matrix/tensor.h"

namespace kaiseki::dist {

/// Whether ranks exchange the factors of a fully connected layer's gradient in place of the
/// gradient (exchanges_factors()). Each rank then computes the product for the whole minibatch.
/// if_smaller: if this halves the bytes on the network, and a minibatch has at most 512 samples.
/// automatic: as if_smaller if the ranks are on several machines, else never.
enum class FactorUse : uint8_t { automatic, never, if_smaller };

/// Whether the factors of a gradient [outputs, inputs] are exchanged. `samples`: of all ranks.
/// A ring carries the gradient about twice, and the factors once. With more samples, the product
/// takes longer than the exchange over a network of a few Gbit/s.
constexpr bool exchanges_factors(int64_t samples, int64_t inputs, int64_t outputs,
                                 int64_t bytes_of_value) {
  constexpr int64_t kMost = 512;
  return samples <= kMost && samples * (inputs + outputs) * 4 <= inputs * outputs * bytes_of_value;
}

struct ExchangeOptions {
  ClusterWire wire = ClusterWire::f32;
  /// Without a value: a quarter of all gradients, from 64 KiB to 4 MiB. The first bucket is then
  /// sent early in the backward pass.
  std::optional<uint64_t> bucket_bytes = {};
  FactorUse factors = FactorUse::automatic;
};

class GradientExchange {
 public:
  /// `ranks` must live as long as this, and no other code may use it. `bytes` of all gradients.
  GradientExchange(Communicator& ranks, uint64_t bytes, const ExchangeOptions& options);
  /// Waits for buckets that are being sent.
  ~GradientExchange();
  GradientExchange(const GradientExchange&) = delete;

  /// Replaces values by their sums. The values must stay in their place until finish(). All ranks
  /// must call it with as many values, in the same order.
  void add(std::span<float> values);
  /// The same for tensors. On other devices than the CPU, waits until they are computed.
  void add(std::span<Tensor> tensors);
  /// Returns when all sums are there. Throws the error of a rank or of the network.
  void finish();

  uint64_t bucket_bytes() const { return bucket_bytes_; }

  /// The times since the start.
  struct Seconds {
    double exchanging = 0;  // of the thread
    double waiting = 0;     // in finish()
  };
  Seconds seconds() const;

 private:
  using Bucket = std::vector<std::span<float>>;

  void queue();
  void run();
  void reduce(const Bucket& bucket);

  Communicator& ranks_;
  ClusterWire wire_;
  uint64_t bucket_bytes_;
  Bucket filling_;
  uint64_t filled_ = 0;  // bytes in filling_
  std::vector<float> packed_;
  Seconds seconds_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Bucket> waiting_;  // the first one may be in transfer
  std::exception_ptr error_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace kaiseki::dist
