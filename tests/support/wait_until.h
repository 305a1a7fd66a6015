// SPDX-License-Identifier: MIT
// wait_until(): tests wait for conditions instead of sleeping.
#pragma once

#include <chrono>
#include <thread>

#include "base/clock.h"

namespace kaiseki::test {

/// Calls condition() again and again until it returns true. Returns false after `seconds`.
template <typename Condition>
bool wait_until(const Condition& condition, double seconds = 30) {
  const double end = steady_seconds() + seconds;
  while (!condition()) {
    if (steady_seconds() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace kaiseki::test
