// SPDX-License-Identifier: MIT
#include "matrix/memory/idle_tensors.h"

#include <algorithm>

#include "matrix/memory/out_of_core.h"

namespace kaiseki {

LeavingTensors::LeavingTensors(Device device)
    : device_(device), can_leave_(tensors_can_leave(device)) {
  if (can_leave_) device_.memory().add_evictor(*this);
}

LeavingTensors::~LeavingTensors() {
  if (can_leave_) device_.memory().remove_evictor(*this);
}

void LeavingTensors::add(const Tensor& tensor) {
  if (!can_leave_ || !tensor.defined() || tensor.device() != device_ ||
      tensor.buffer().bytes() < smallest_outside(device_))
    return;
  if (tensors_.empty() || !tensors_.back().shares_storage_with(tensor)) tensors_.push_back(tensor);
}

void LeavingTensors::begin(const Tensor& next) {
  const auto at = std::ranges::find_if(
      tensors_, [&](const Tensor& one) { return one.shares_storage_with(next); });
  if (at != tensors_.end()) next_ = static_cast<size_t>(at - tensors_.begin());
}

/// Calls f() from the latest next use to the earliest, until f() returns false.
template <class F>
void LeavingTensors::for_each_on_device(const F& f) const {
  for (size_t i = tensors_.size(); i-- > 0;) {
    Buffer& buffer = tensors_[(next_ + i) % tensors_.size()].buffer();
    if (!buffer.left_device() && !buffer.is_held() && !f(buffer)) return;
  }
}

bool LeavingTensors::evict(uint64_t bytes) {
  uint64_t released = 0;
  for_each_on_device([&](Buffer& buffer) {
    buffer.leave_device();
    if (buffer.left_device()) released += buffer.bytes();  // otherwise its store is gone
    return released < bytes;
  });
  return released != 0;
}

void LeavingTensors::add_idle(IdleBuffers& to) const {
  for (const Tensor& tensor : tensors_) {
    const uint64_t bytes = device_.memory().rounded(tensor.buffer().bytes());
    const bool stays = tensor.buffer().left_device() || tensor.buffer().is_held();
    to[&tensor.buffer()] = {.on_device = stays ? 0 : bytes, .all = bytes};
  }
}

}  // namespace kaiseki
