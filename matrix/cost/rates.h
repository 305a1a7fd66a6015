// SPDX-License-Identifier: MIT
// The rates of a device and of its link. They predict how long a pass through a network takes.
#pragma once

#include <optional>

#include "matrix/device.h"

namespace kaiseki {

/// The rates of copies between a device and the place of tensors that left it, in bytes a second.
struct LinkRates {
  double to_host = 0, to_device = 0;
  bool overlaps = false;  // copies run beside the device's kernels
  /// Seconds by which a byte that is copied slows down computing at the same time. Copies need the
  /// CPU's cores and memory.
  double slows = 0;
  double copy = 4e-6;  // seconds for each row of a copy, in addition to its bytes
};

struct DeviceRates {
  double multiply_adds = 0;            // a second, in a large f32 matrix product
  double bytes = 0;                    // a second, that elementwise operations read or write
  double start = 10e-6;                // seconds for each kernel, in addition to its work
  std::optional<LinkRates> link = {};  // nothing if no tensor can leave
};

/// Measures the rates once in a process, in about half a second. Returns the rate of the tuning
/// file if the measured rate is within 20 % of it. If the policy measures nothing, or memory is
/// short, the rates of the file count. Rates that the file lacks then have default values. A
/// default value never enters the file.
DeviceRates device_rates(Device device);

/// For tests: sets the rates of every device. Without a value, rates come from the file or from
/// measurements.
void set_device_rates(const std::optional<DeviceRates>& rates);

}  // namespace kaiseki
