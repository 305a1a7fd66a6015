// SPDX-License-Identifier: MIT
// Swapping: tensors that a pass needs later wait on the host while the device has no room for them.
// Weights and their gradients may wait, too. The tensor that is needed last leaves first.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "matrix/has_devices.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/out_of_core.h"
#include "nn/forward_run.h"

namespace kaiseki::nn {

/// The values and saved tensors that left the device in earlier passes of a plan.
struct SwapHistory {
  std::vector<char> values, saved;  // one flag for each value, and for each step
};

inline bool can_swap(Device device) { return kHasDevices && tensors_can_leave(device); }

/// A weight or its gradient.
struct SwappableWeight {
  const Tensor* tensor = nullptr;
  /// Times in ascending order. The last one is after the pass: the optimizer and the next pass read
  /// it.
  std::array<size_t, 4> uses = {};
};

/// Serves one forward or backward pass, on the thread that constructs it.
class Swapping : public Evictor {
 public:
  /// `gradients`: in a backward pass, the gradients of values that wait for their step.
  Swapping(ForwardRun& run, Device device, SwapHistory& history,
           std::vector<SwappableWeight> weights, const std::vector<Tensor*>& gradients = {});
  ~Swapping() override;
  Swapping(const Swapping&) = delete;

  /// A step begins. Its tensors stay on the device.
  void begin(size_t time) {
    now_ = time;
    kept_ = nullptr;
  }
  /// Keeps this tensor on the device in this step, too. It is the gradient of the step's output,
  /// which several steps can share.
  void keep(const Tensor& tensor) { kept_ = tensor.defined() ? &tensor.buffer() : nullptr; }
  /// Called after a forward step. Tensors that left the device in an earlier pass leave it now. The
  /// copy then runs beside the next steps. Copies back the weights of the next two steps, if there
  /// is room.
  void end_forward();
  /// Called after a backward step. Copies back the tensors of the next two steps, if there is room.
  void end_backward();

  /// The running operation may hold a weight of the step while nothing else can leave. The other
  /// weights of the step then leave. For example, a filter makes room for its gradient.
  bool evict(uint64_t bytes) override;
  /// Adds no tensors that left before.
  void add_idle(IdleBuffers& to) const override;

 private:
  struct SwapCandidate {
    Buffer* buffer;
    size_t next_use;
    char* history;  // nullptr for a gradient or a weight
  };
  bool is_swappable(const Tensor& tensor) const;
  void add(std::vector<SwapCandidate>& to, const Tensor& tensor, std::span<const size_t> uses,
           char* history) const;
  std::vector<SwapCandidate> candidates() const;
  uint64_t evict_weights_of_step(uint64_t bytes);
  void copy_back(const Tensor& tensor) const;
  void copy_back_weights() const;

  ForwardRun& run_;
  Device device_;
  SwapHistory& history_;
  std::vector<SwappableWeight> weights_;
  std::vector<Tensor*> gradients_;
  uint64_t largest_;   // bytes of a block
  bool weights_left_;  // whether weights are outside; the steps then copy them back
  size_t now_ = 0;
  const Buffer* kept_ = nullptr;
};

}  // namespace kaiseki::nn
