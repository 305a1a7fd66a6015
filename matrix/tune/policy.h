// SPDX-License-Identifier: MIT
// The tuning policy: when the tuner measures, and whether measurements count. It applies to
// convolutions, matrix products and all other choices by time.
#pragma once

#include <cstdint>

namespace kaiseki {

enum class TuneMode : uint8_t {
  off,         // uses the backend's order of candidates; ignores measurements
  cached,      // uses measurements; measures nothing
  hybrid,      // uses measurements; measures a large unknown case on first use
  exhaustive,  // measures every case on its first use in the process
  /// Like hybrid, but each call makes only one step of a measurement. A timed run also computes the
  /// call's result.
  amortized,
};

struct TunePolicy {
  TuneMode mode = TuneMode::hybrid;
  /// Uses only candidates with deterministic results, and makes no choice by time that changes
  /// bits. The same seed then gives the same bits, with or without measurements and with any number
  /// of threads.
  bool deterministic = false;
};

/// Applies to all devices and threads, from the next case on. The mode `exhaustive` clears the
/// results that this process knows.
void set_tune_policy(const TunePolicy& policy);
TunePolicy tune_policy();

/// Returns whether the policy measures an unknown case of this many operations. Cases of fewer than
/// `least` operations are measured only by `exhaustive`.
bool measures(const TunePolicy& policy, double operations, double least);

/// A number that changes whenever a choice may change: after a new policy or a measurement.
uint64_t tuning_choice_version();
/// A number that changes whenever the known results of this process are cleared.
uint64_t tuning_clear_count();
void count_tuning_change();

/// For tests: clears the known results of this process. The tuning file is read again.
void forget_measurements();

}  // namespace kaiseki
