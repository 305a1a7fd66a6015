// SPDX-License-Identifier: MIT
// The time in which a device is busy with its queue of kernels. Only devices that know the times of
// their commands measure it: OpenCL devices that are opened while a BusyTimeMeasurement exists.
//
//   BusyTimeMeasurement measured;       // before the first use of the device
//   ...
//   device.synchronize();               // adds the commands that are done
//   busy_seconds(device.name())
#pragma once

#include <optional>
#include <string_view>

namespace kaiseki {

/// While one exists, the commands of devices are measured. The measurement slows down each command
/// by some microseconds.
class BusyTimeMeasurement {
 public:
  BusyTimeMeasurement() noexcept;
  ~BusyTimeMeasurement();
  BusyTimeMeasurement(const BusyTimeMeasurement&) = delete;
};
bool busy_time_is_measured();

/// Adds to the busy time of a device, such as "opencl:0". A device that can be measured adds 0 when
/// it is opened.
void add_busy_seconds(std::string_view device, double seconds);
/// The measured time so far, in seconds. Nothing if the device is not measured.
std::optional<double> busy_seconds(std::string_view device);

}  // namespace kaiseki
