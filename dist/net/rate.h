// SPDX-License-Identifier: MIT
// Rates: token buckets for calls and bytes, and the minimum rate of a transfer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace kaiseki::dist {

/// A token bucket. It is full at first. Times are seconds of any one clock.
class TokenBucket {
 public:
  TokenBucket(double per_second, double burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  bool take(double now) {
    refill(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }
  /// Takes a token that may come later. Returns the seconds until it is there.
  double owe(double now) {
    refill(now);
    tokens_ -= 1;
    return std::max(0.0, -tokens_ / per_second_);
  }
  /// Seconds until take() returns true.
  double wait(double now) {
    refill(now);
    return std::max(0.0, (1 - tokens_) / per_second_);
  }
  bool full(double now) {
    refill(now);
    return tokens_ >= burst_;
  }

 private:
  void refill(double now) {
    tokens_ = std::min(burst_, tokens_ + std::max(0.0, now - last_) * per_second_);
    last_ = now;
  }
  double per_second_, burst_, tokens_, last_ = 0;
};

/// A token bucket for the bytes that a peer may send. A message that has begun may make it
/// negative.
class ByteBudget {
 public:
  /// `left`: bytes at first, at most `burst`.
  ByteBudget(double per_second, double burst, double left, double now)
      : per_second_(per_second), burst_(burst), left_(left), last_(now) {}

  /// Returns false if no bytes were left before.
  bool spend(uint64_t bytes, double now) {
    refill(now);
    const bool some = left_ > 0;
    left_ -= static_cast<double>(bytes);
    return some;
  }
  /// Returns the bytes of a message that the coordinator had asked for.
  void refund(uint64_t bytes) { left_ = std::min(burst_, left_ + static_cast<double>(bytes)); }
  bool is_full(double now) {
    refill(now);
    return left_ == burst_;
  }

 private:
  void refill(double now) {
    left_ = std::min(burst_, left_ + std::max(0.0, now - last_) * per_second_);
    last_ = now;
  }

  double per_second_, burst_, left_, last_;
};

/// Checks whether a transfer keeps its minimum rate.
class LeastRate {
 public:
  LeastRate(double least, double seconds) : least_(least), seconds_(seconds) {}

  /// `bytes`: the total so far. Returns false if the last `seconds` brought too few bytes.
  bool keeps(uint64_t bytes, double now) {
    if (!begun_) {
      begun_ = true;
      since_ = now;
      from_ = bytes;
    }
    if (now - since_ < seconds_) return true;
    rate_ = static_cast<double>(bytes - from_) / (now - since_);
    since_ = now;
    from_ = bytes;
    return *rate_ >= least_;
  }
  void end() {
    begun_ = false;
    rate_.reset();
  }
  bool begun() const { return begun_; }
  /// Bytes a second in the last `seconds` of the transfer. Nothing until they have passed.
  std::optional<double> rate() const { return rate_; }

 private:
  double least_, seconds_, since_ = 0;
  std::optional<double> rate_;
  uint64_t from_ = 0;
  bool begun_ = false;
};

}  // namespace kaiseki::dist
