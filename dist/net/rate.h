// SPDX-License-Identifier: MIT
// Rates: tokens and bytes that come back with time, and the pace that something begun must keep.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kaiseki::dist {

/// Begins full. Times are seconds of any one clock.
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
  /// Seconds until take() gives one.
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

/// Bytes that a peer may send: so many a second after a burst. A message that has begun may go on
/// below zero.
class ByteBudget {
 public:
  /// Begins with `left` of the burst.
  ByteBudget(double per_second, double burst, double left, double now)
      : per_second_(per_second), burst_(burst), left_(left), last_(now) {}

  /// False when nothing was left before.
  bool spend(uint64_t bytes, double now) {
    refill(now);
    const bool some = left_ > 0;
    left_ -= static_cast<double>(bytes);
    return some;
  }
  /// What was asked for costs nothing.
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

/// Whether a transfer that has begun keeps its least rate, looked at now and then.
class LeastRate {
 public:
  LeastRate(double least, double seconds) : least_(least), seconds_(seconds) {}

  /// `bytes` so far. False when the last `seconds` brought too few of them.
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
    return rate_ >= least_;
  }
  void end() {
    begun_ = false;
    rate_ = HUGE_VAL;
  }
  bool begun() const { return begun_; }
  /// Of the last `seconds` of what has begun; infinite before there are any.
  double rate() const { return rate_; }

 private:
  double least_, seconds_, since_ = 0, rate_ = HUGE_VAL;
  uint64_t from_ = 0;
  bool begun_ = false;
};

}  // namespace kaiseki::dist
