// SPDX-License-Identifier: MIT
// IdleTensors: tensors that leave their device while others need the room, because no operation
// uses them now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "matrix/has_devices.h"
#include "matrix/memory/allocator.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// The IdleTensors of builds whose tensors can leave a device.
class LeavingTensors : public Evictor {
 public:
  explicit LeavingTensors(Device device);
  ~LeavingTensors() override;
  LeavingTensors(const LeavingTensors&) = delete;

  /// Add tensors in the order of their next uses. Ignores tensors that are undefined, on another
  /// device, or too small to leave.
  void add(const Tensor& tensor);
  /// The tensors from this one on are used next. Those before were used already, and leave first.
  void begin(const Tensor& next);

  /// Moves the tensor with the latest next use first. Skips buffers that are held
  /// (BufferHold).
  bool evict(uint64_t bytes) override;
  void add_idle(IdleBuffers& to) const override;

 private:
  template <class F>
  void for_each_on_device(const F& f) const;

  Device device_;
  bool can_leave_;
  std::vector<Tensor> tensors_;
  size_t next_ = 0;
};

/// The IdleTensors of WebAssembly, whose tensors never leave.
struct StayingTensors {
  explicit StayingTensors(Device) {}
  StayingTensors(const StayingTensors&) = delete;
  void add(const Tensor&) {}
  void begin(const Tensor&) {}
  void add_idle(IdleBuffers&) const {}
};

/// Serves the thread that constructs it. Does nothing if the device's tensors cannot leave.
using IdleTensorsOfBuild = std::conditional_t<kHasDevices, LeavingTensors, StayingTensors>;
class IdleTensors final : public IdleTensorsOfBuild {
 public:
  explicit IdleTensors(Device device) : IdleTensorsOfBuild(device) {}
};

}  // namespace kaiseki
