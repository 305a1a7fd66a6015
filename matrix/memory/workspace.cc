// SPDX-License-Identifier: MIT
#include "matrix/memory/workspace.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "matrix/backend.h"
#include "matrix/memory/pool.h"

namespace kaiseki {
namespace {

constexpr uint64_t kEarlyPart = 16;
constexpr int kPatience = 10'000;  // milliseconds that a tensor waits for a convolution's end

}  // namespace

Workspace::Workspace(Device device, MemoryPool& pool) : device_(device), pool_(pool) {
  pool_.set_give_way([this] { give_way(); });
}

void Workspace::set_limit(std::optional<uint64_t> bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  gave_way_ = false;
  registered_.clear();
  block_ = {};
}

void Workspace::register_size(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!limit_) registered_.insert(bytes);
}

void Workspace::end_iteration() {
  std::lock_guard lock(mutex_);
  for (uint64_t bytes : registered_)
    if (bytes <= size() || take(bytes)) break;
  registered_.clear();
}

void Workspace::reserve(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!limit_ && bytes > size()) take(bytes);
}

uint64_t Workspace::size() const {
  std::lock_guard lock(mutex_);
  return block_.defined() ? block_.bytes() : 0;
}

uint64_t Workspace::available() const {
  std::lock_guard lock(mutex_);
  if (limit_) return *limit_;
  return gave_way_ ? size() : std::max(size(), device_memory() / kEarlyPart);
}

bool Workspace::allows(uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  return !limit_ || bytes <= *limit_;
}

Workspace::Use Workspace::use(uint64_t bytes) {
  Use use{std::unique_lock(mutex_), {}};
  if (bytes > size() && bytes <= available()) take(bytes);
  if (bytes <= size()) use.memory = block_;
  return use;
}

uint64_t Workspace::device_memory() const {
  if (const uint64_t budget = pool_.account().budget) return budget;
  if (!physical_) physical_ = device_.backend().info().memory;
  return physical_;
}

Workspace::Use Workspace::try_out(uint64_t bytes) {
  Use trial{std::unique_lock(mutex_), {}};
  if (bytes <= size() || limit_) return use(bytes);
  if (fits(bytes)) trial.memory = Tensor::of_unused_memory(bytes, device_);
  return trial;
}

/// In place of the present block. A device without a budget may promise more memory than it has.
bool Workspace::fits(uint64_t bytes) const {
  const MemoryAccount account = pool_.account();
  const uint64_t memory = device_memory();  // 0: not known
  return !memory || account.in_use + account.cached + bytes <= memory;
}

bool Workspace::take(uint64_t bytes) {
  if (!fits(bytes)) return false;
  const uint64_t before = size();
  block_ = {};
  block_ = Tensor::of_unused_memory(bytes, device_);
  if (block_.defined()) return true;
  if (before) block_ = Tensor::of_unused_memory(before, device_);
  return false;
}

/// A convolution on another thread ends first, unless it waits for what this thread holds. One on
/// this thread keeps its block till its end.
void Workspace::give_way() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int i = 0; i < kPatience && !lock.owns_lock(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.try_lock();
  }
  if (!lock.owns_lock()) return;
  gave_way_ = true;
  block_ = {};
}

}  // namespace kaiseki
