// SPDX-License-Identifier: MIT
// Device: the place of tensors and operations. Members that need a backend are defined in
// matrix/backend/registry.cc, because this header must not depend on backends.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/dtype.h"

namespace kaiseki {

class Backend;
class Allocator;
class Workspace;
struct DeviceInfo;

/// A value type: a backend and the number of one of its devices.
class Device {
 public:
  Device() = default;  // the CPU
  static Device cpu() { return Device(); }
  /// Returns a device of the backend with this name. Throws DeviceError with the reason if there is
  /// no such device.
  static Device of(std::string_view backend, int index = 0);
  /// of("opencl", index)
  static Device opencl(int index = 0);
  /// Returns the first GPU of any backend, else the CPU. If a backend failed, this is logged once.
  static Device automatic();
  /// "cpu", "opencl", "opencl:N", "auto", or "" (KAISEKI_DEVICE, else auto). Throws DeviceError.
  static Device parse(std::string_view text);

  /// "opencl"
  std::string_view backend_name() const;
  int index() const { return index_; }
  bool is_cpu() const { return backend_ == 0; }
  /// "cpu", "opencl:0"
  std::string name() const;

  DeviceInfo info() const;
  /// Returns whether the device has tensors of this type. All have f32, i32, u8 and bool.
  bool holds(DType type) const;
  Backend& backend() const;
  Allocator& memory() const;
  Workspace& workspace() const;
  /// Waits until all work of this device has finished.
  void synchronize() const;

  auto operator<=>(const Device&) const = default;

 private:
  Device(uint8_t backend, int index) : backend_(backend), index_(index) {}
  uint8_t backend_ = 0;  // index in the registry; the CPU is 0
  int index_ = 0;
};

struct DeviceInfo {
  Device device;
  std::string name;      // the vendor's name of the device
  std::string platform;  // "Highway AVX3", "Portable Computing Language"
  std::string driver;
  bool is_gpu = false;
  int compute_units = 0;
  uint64_t memory = 0;          // bytes
  uint64_t max_allocation = 0;  // bytes of the largest buffer
};

/// The device for tensors that are created without one. The initial value is Device::cpu();
/// programs set it once.
Device default_device();
void set_default_device(Device device);

/// The CPU first, then every device of the other backends.
std::vector<DeviceInfo> list_devices();

/// The first problem of each backend, as a text for users. It says why the backend has no device,
/// or why a device is missing. Empty if nothing failed.
std::vector<std::string> device_problems();

}  // namespace kaiseki
