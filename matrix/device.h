// SPDX-License-Identifier: MIT
// Device: where tensors live and operations run.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaiseki {

class Backend;
class MemoryPool;
class Workspace;

/// A value: the kind of a device and its number.
class Device {
 public:
  enum class Kind : uint8_t { cpu, opencl };

  Device() = default;  // the CPU
  static Device cpu() { return Device(); }
  /// Throws DeviceError, with the reason, when there is no such device.
  static Device opencl(int index = 0);
  /// The best OpenCL GPU if there is one that works, else the CPU; if something of OpenCL failed,
  /// the log says so once.
  static Device automatic();
  /// "cpu", "opencl", "opencl:N", "auto", or "" (KAISEKI_DEVICE, else auto). Throws DeviceError.
  static Device parse(std::string_view text);

  Kind kind() const { return kind_; }
  int index() const { return index_; }
  bool is_cpu() const { return kind_ == Kind::cpu; }
  /// "cpu", "opencl:0"
  std::string name() const;

  Backend& backend() const;
  MemoryPool& memory() const;
  Workspace& workspace() const;
  /// Waits until all work of this device is done.
  void synchronize() const;

  auto operator<=>(const Device&) const = default;

 private:
  Device(Kind kind, int index) : kind_(kind), index_(index) {}
  Kind kind_ = Kind::cpu;
  int index_ = 0;
};

/// The device of tensors that name none. Starts as Device::cpu(); programs set it once.
Device default_device();
void set_default_device(Device device);

struct DeviceInfo {
  Device device;
  std::string name;      // the vendor's name of it
  std::string platform;  // "Highway AVX3", "Portable Computing Language"
  std::string driver;
  bool is_gpu = false;
  int compute_units = 0;
  uint64_t memory = 0;          // bytes
  uint64_t max_allocation = 0;  // bytes in one buffer
};

/// The CPU first, then every OpenCL device.
std::vector<DeviceInfo> list_devices();

/// The first of what failed in OpenCL, for people: why there is no device, or why one of several is
/// left out. Empty when nothing failed.
std::string opencl_problem();

}  // namespace kaiseki
