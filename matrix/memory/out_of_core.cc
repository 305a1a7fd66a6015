// SPDX-License-Identifier: MIT
#include "matrix/memory/out_of_core.h"

#include <algorithm>
#include <atomic>

#include "matrix/memory/allocator.h"

namespace kaiseki {
namespace {

constexpr uint64_t kSmallestOutside = uint64_t{1} << 20;
constexpr uint64_t kPartOfBudget = 64, kPage = 4096;

std::atomic<OutOfCore> policy_now = OutOfCore::automatic;

}  // namespace

void set_out_of_core(OutOfCore policy) { policy_now = policy; }

OutOfCore out_of_core() { return policy_now; }

bool tensors_can_leave(Device device) {
  return out_of_core() != OutOfCore::off &&
         (!device.is_cpu() || device.memory().backing() != nullptr);
}

uint64_t smallest_outside(uint64_t budget) {
  return budget ? std::clamp(budget / kPartOfBudget, kPage, kSmallestOutside) : kSmallestOutside;
}

uint64_t smallest_outside(Device device) {
  return smallest_outside(device.memory().account().budget);
}

}  // namespace kaiseki
