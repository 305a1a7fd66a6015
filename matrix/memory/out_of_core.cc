// SPDX-License-Identifier: MIT
#include "matrix/memory/out_of_core.h"

#include <atomic>

#include "matrix/memory/allocator.h"

namespace kaiseki {
namespace {

std::atomic<OutOfCore> policy_now = OutOfCore::automatic;

}  // namespace

void set_out_of_core(OutOfCore policy) { policy_now = policy; }

OutOfCore out_of_core() { return policy_now; }

bool tensors_can_leave(Device device) {
  return out_of_core() != OutOfCore::off &&
         (!device.is_cpu() || device.memory().backing() != nullptr);
}

}  // namespace kaiseki
