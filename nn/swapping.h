// SPDX-License-Identifier: MIT
// Swapping: tensors that a pass needs later wait on the host while the device has no room for them.
// The tensor that is needed last goes first.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/has_devices.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/out_of_core.h"
#include "nn/forward_run.h"

namespace kaiseki::nn {

/// The values and saved tensors that left the device in earlier passes of a plan.
struct SwapHistory {
  std::vector<char> values, saved;  // by value, and by step
};

inline bool can_swap(Device device) { return kHasDevices && tensors_can_leave(device); }

/// Serves one forward or backward pass, on the thread that constructs it.
class Swapping : public Evictor {
 public:
  /// `gradients`: in a backward pass, the gradients of values that wait for their step.
  Swapping(ForwardRun& run, Device device, SwapHistory& history,
           const std::vector<Tensor*>& gradients = {});
  ~Swapping() override;
  Swapping(const Swapping&) = delete;

  /// A step begins. Its tensors stay on the device.
  void begin(size_t time) {
    now_ = time;
    kept_ = nullptr;
  }
  /// This tensor stays on the device in this step too: the gradient of the step's output. Several
  /// steps can share it.
  void keep(const Tensor& tensor) { kept_ = tensor.defined() ? &tensor.buffer() : nullptr; }
  /// After a forward step: tensors that left the device in an earlier pass leave it at once. The
  /// copy then runs beside the next steps.
  void end_forward();
  /// After a backward step: copies back what the next two steps read, if there is room.
  void end_backward();

  bool evict(uint64_t bytes) override;

 private:
  struct SwapCandidate {
    Buffer* buffer;
    size_t next_use;
    char* history;  // nullptr for a gradient
  };
  bool is_swappable(const Tensor& tensor) const;
  void add(std::vector<SwapCandidate>& to, const Tensor& tensor, const std::vector<size_t>& uses,
           char* history) const;
  std::vector<SwapCandidate> candidates() const;
  void copy_back(const Tensor& tensor) const;

  ForwardRun& run_;
  Device device_;
  SwapHistory& history_;
  std::vector<Tensor*> gradients_;
  size_t now_ = 0;
  const Buffer* kept_ = nullptr;
};

}  // namespace kaiseki::nn
