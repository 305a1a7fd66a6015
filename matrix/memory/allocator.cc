// SPDX-License-Identifier: MIT
#include "matrix/memory/allocator.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "matrix/ceil_div.h"
#include "matrix/has_devices.h"

namespace kaiseki {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 60;
constexpr int kAttempts = 3;
constexpr uint64_t kDivided = 256 << 10;  // smaller parts would keep large blocks from being joined
constexpr uint64_t kLine = 256;
constexpr uint64_t kWorkspacePart = 8;  // of the budget: kept while other tensors can leave
// Fractions of the budget, for memory that cannot be discarded:
constexpr uint64_t kLargePart = 8;  // a tensor with a block of its own
constexpr uint64_t kReserved = 32;  // left for small tensors and the workspace

}  // namespace

Allocator::Allocator(std::string device_name, RawMemory& raw, std::optional<uint64_t> budget)
    : device_name_(std::move(device_name)), raw_(raw), divided_(raw) {
  account_.budget = budget.value_or(0);
}

Allocator::~Allocator() { trim_locked(); }

bool Allocator::discards() const {
  const std::optional<BlockDivision> division = raw_.division();
  return division && division->discards;
}

/// Returns whether new blocks have room for several tensors and are rarely released. This is not so
/// for large tensors: tensors in use would divide the room that they need.
bool Allocator::has_large_blocks() const {
  return account_.budget && !has_large_tensors_ && raw_.division() && !discards();
}

bool Allocator::divides(uint64_t bytes) const {
  return bytes >= kDivided && (discards() || has_large_blocks());
}

uint64_t Allocator::aligned(uint64_t bytes) const {
  const std::optional<BlockDivision> division = raw_.division();
  const uint64_t line = std::max(kLine, division ? division->alignment : 1);
  return round_up(bytes, line);
}

uint64_t Allocator::rounded(uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  return rounded_locked(bytes);
}

uint64_t Allocator::rounded_locked(uint64_t bytes) const {
  return divides(bytes) ? aligned(bytes) : rounded_unused(bytes);
}

// Rounds up to one of eight sizes between powers of two, which wastes at most an eighth. Slightly
// different sizes, as with the last partial batch, then reuse the same blocks. The budget has no
// influence, so the size is the same when the block is released.
uint64_t Allocator::rounded_unused(uint64_t bytes) const {
  if (bytes >= kDivided && discards()) return aligned(bytes);
  uint64_t step = std::max<uint64_t>(64, std::bit_floor(std::max<uint64_t>(1, bytes)) / 8);
  return round_up(std::max<uint64_t>(1, bytes), step);
}

bool Allocator::within_budget(uint64_t bytes) const {
  return !account_.budget || held() + bytes <= account_.budget;
}

/// If `estimate` is set, also checks the device's available memory. Otherwise the device itself
/// decides.
bool Allocator::has_room(uint64_t bytes, bool estimate) const {
  if (!within_budget(bytes)) return false;
  return !estimate || !account_.workspace || bytes <= raw_.available();
}

/// Returns the size of a new block that will be divided. A large block has room for the largest
/// part so far. In time, every block then has room for every part, and none is released.
uint64_t Allocator::block_size(uint64_t part) {
  if (!has_large_blocks()) return part;
  largest_ = std::max(largest_, part);
  const uint64_t room = account_.budget - held();
  const uint64_t spare = room - std::min(room, account_.budget / kReserved);
  return std::max(part, std::min({largest_, spare, raw_.division()->largest_block}));
}

/// Adds a block with room for a part of this size. Returns false if the device refuses.
bool Allocator::add_block(uint64_t part) {
  uint64_t size = block_size(part);
  void* block = raw_.allocate(size);
  if (!block && size > part) block = raw_.allocate(size = part);
  if (!block) return false;
  try {
    divided_.add(block, size);
  } catch (...) {
    raw_.release(block);
    throw;
  }
  count();
  return true;
}

/// If `idle` is set, takes no block that a copy uses.
void* Allocator::take_cached(uint64_t size, bool idle) {
  auto found = free_.lower_bound(size);
  const auto end = free_.upper_bound(size);
  while (idle && found != end && raw_.is_copied(found->second, size)) ++found;
  if (found == end) return nullptr;
  void* block = found->second;
  free_.erase(found);
  free_bytes_ -= size;
  raw_.reuse(block);
  return block;
}

void* Allocator::take_whole(uint64_t size, bool estimate) {
  void* block = take_cached(size, true);
  if (!block && has_room(size, estimate)) block = raw_.allocate(size);
  if (!block) block = take_cached(size, false);
  if (block) whole_in_use_ += size;
  return block;
}

void* Allocator::take_part(uint64_t size, bool estimate) {
  if (void* part = divided_.take_idle(size)) return part;
  if (has_room(size, estimate)) {
    if (void* part = divided_.take_empty(size)) return part;
    if (add_block(size))
      if (void* part = divided_.take_idle(size)) return part;
  }
  return divided_.take(size);
}

void* Allocator::take_locked(uint64_t size, bool estimate) {
  if (divides(size)) return take_part(size, estimate);
  if (void* block = take_whole(size, estimate)) return block;
  // Divided blocks may hold the whole budget.
  return discards() ? nullptr : divided_.take(aligned(size));
}

void* Allocator::allocate_locked(uint64_t bytes, bool estimate) {
  if (account_.budget && bytes > account_.budget / kLargePart) has_large_tensors_ = true;
  const uint64_t size = rounded_locked(bytes);
  void* block = take_locked(size, estimate);
  if (!block && (account_.cached || divided_.has_empty())) {
    trim_locked(size);
    block = take_locked(size, estimate);
  }
  if (!block) return nullptr;
  count();
  account_.peak = std::max(account_.peak, held());
  return block;
}

void* Allocator::allocate(uint64_t bytes) {
  std::unique_lock lock(mutex_);
  const bool possible = bytes <= kLargest;
  void* block = possible ? allocate_locked(bytes) : nullptr;
  // Repeats, because another thread may take the released block first.
  const auto release_workspace_above = [&](uint64_t kept) {
    bool gives = possible;
    for (int i = 0; i < kAttempts && !block && account_.workspace > kept && gives; ++i) {
      lock.unlock();  // release_for_tensors() releases blocks, which takes this lock
      gives = release_for_tensors_();
      lock.lock();
      block = allocate_locked(bytes);
    }
  };
  const uint64_t kept = evictors_.empty() ? 0 : account_.budget / kWorkspacePart;
  release_workspace_above(kept);
  if (!block && account_.workspace && possible) block = allocate_locked(bytes, false);
  bool gives = possible;
  while (!block && gives && !evictors_.empty()) {
    lock.unlock();
    gives = evict(rounded(bytes));
    lock.lock();
    block = allocate_locked(bytes, false);
  }
  if (kept) release_workspace_above(0);
  if (!block)
    throw OutOfMemory(device_name_, {possible ? rounded_locked(bytes) : bytes, account_.in_use,
                                     account_.cached, account_.budget});
  return block;
}

void* Allocator::allocate_unused(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > kLargest) return nullptr;
  const uint64_t size = rounded_unused(bytes);
  if (!within_budget(size) || size > raw_.available()) return nullptr;
  void* block = raw_.allocate(size);
  if (!block) return nullptr;
  if (!raw_.commit(block, size)) {
    raw_.release(block);
    return nullptr;
  }
  account_.workspace += size;
  account_.peak = std::max(account_.peak, held());
  return block;
}

void Allocator::release(void* block, uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  if (divided_.owns(block))
    divided_.put(block);
  else
    put_whole(block, rounded_unused(bytes));
  count();
}

void Allocator::put_whole(void* block, uint64_t size) noexcept {
  whole_in_use_ -= size;
  count();
  if (!within_budget(size)) return raw_.release(block);  // the budget was lowered
  try {
    free_.emplace(size, block);
    free_bytes_ += size;
  } catch (...) {
    raw_.release(block);
  }
}

void Allocator::count() {
  account_.in_use = whole_in_use_ + divided_.used();
  account_.cached = free_bytes_ + divided_.cached();
}

void Allocator::release_unused(void* block, uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  account_.workspace -= rounded_unused(bytes);
  raw_.release(block);
}

bool Allocator::make_room(uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (!kHasDevices || !can_make_room_locked() || bytes > account_.budget) return false;
  const uint64_t size = rounded_unused(bytes);
  const auto tensors = [&] { return account_.in_use + account_.cached; };
  lock.unlock();
  const uint64_t idle = idle_bytes().on_device;
  lock.lock();
  if (account_.in_use + size > account_.budget + idle) return false;  // cannot succeed
  trim_locked(size);
  while (tensors() + size > account_.budget) {
    const uint64_t before = tensors(), missing = before + size - account_.budget;
    lock.unlock();
    bool left = false;
    try {
      left = evict(missing);
    } catch (const Error&) {  // the store has no room; a convolution works without a workspace
    }
    lock.lock();
    trim_locked(size);
    if (!left || tensors() >= before) return false;
  }
  return true;
}

bool Allocator::can_make_room() const {
  std::lock_guard lock(mutex_);
  return can_make_room_locked();
}

bool Allocator::can_make_room_locked() const {
  const auto is_mine = [](const auto& one) { return one.first == std::this_thread::get_id(); };
  return kHasDevices && account_.budget && std::ranges::any_of(evictors_, is_mine);
}

/// Evictors are called without the lock. Only this thread removes them.
std::vector<Evictor*> Allocator::evictors_of_thread() const {
  std::lock_guard lock(mutex_);
  std::vector<Evictor*> mine;
  for (const auto& [thread, evictor] : evictors_)
    if (thread == std::this_thread::get_id()) mine.push_back(evictor);
  return mine;
}

bool Allocator::evict(uint64_t bytes) {
  return std::ranges::any_of(evictors_of_thread(),
                             [&](Evictor* evictor) { return evictor->evict(bytes); });
}

IdleBytes Allocator::idle_bytes() const {
  IdleBuffers buffers;
  for (const Evictor* evictor : evictors_of_thread()) evictor->add_idle(buffers);
  IdleBytes sum;
  for (const auto& [buffer, bytes] : buffers) {
    sum.all += bytes.all;
    sum.on_device += bytes.on_device;
  }
  return sum;
}

void Allocator::add_evictor(Evictor& evictor) {
  std::lock_guard lock(mutex_);
  evictors_.emplace_back(std::this_thread::get_id(), &evictor);
}

void Allocator::remove_evictor(Evictor& evictor) {
  std::lock_guard lock(mutex_);
  std::erase_if(evictors_, [&](const auto& one) { return one.second == &evictor; });
}

Allocator* Allocator::backing() {
  std::lock_guard lock(mutex_);
  RawMemory* raw = raw_.backing();
  if (raw && !backing_)
    backing_ = std::make_unique<Allocator>("the memory for tensors that left " + device_name_, *raw,
                                           raw->limit());
  return raw ? backing_.get() : nullptr;
}

bool Allocator::has_room_for(uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  const uint64_t size = rounded_locked(bytes);
  if (divides(size) && has_large_blocks()) return divided_.has(size) || within_budget(size);
  if (free_.contains(size)) return true;
  return account_.budget != 0 && account_.in_use + account_.workspace + size <= account_.budget;
}

/// Within a budget, returns only as many blocks as a new block of `size` bytes needs. The largest
/// go first.
void Allocator::trim_locked(uint64_t size) {
  if (!account_.budget) return trim_locked();
  if (has_large_blocks()) return release_blocks_for(size);
  while (!within_budget(size) && release_largest()) {
  }
  if (discards() && !within_budget(size))
    divided_.give_back(held() + size - account_.budget);
  else
    divided_.give_back();
  count();
}

/// Releases nothing if that would not make enough room. Evictors can then free parts of the blocks.
/// The smallest blocks go first, so that in time every block has room for the largest tensors.
void Allocator::release_blocks_for(uint64_t size) {
  if (within_budget(size)) return trim_locked();  // the device refused
  const uint64_t free = free_bytes_ + divided_.free_blocks();
  if (held() - free + size > account_.budget) return;
  while (!within_budget(size) && divided_.release_smallest()) count();
  while (!within_budget(size) && release_largest()) {
  }
}

/// Releases the largest cached block that is not divided. Returns false if there is none.
bool Allocator::release_largest() {
  if (free_.empty()) return false;
  const auto largest = std::prev(free_.end());
  raw_.release(largest->second);
  free_bytes_ -= largest->first;
  free_.erase(largest);
  count();
  return true;
}

void Allocator::trim_locked() {
  for (auto& [size, block] : free_) raw_.release(block);
  free_.clear();
  free_bytes_ = 0;
  divided_.give_back();
  count();
}

void Allocator::trim() {
  std::lock_guard lock(mutex_);
  trim_locked();
}

void Allocator::reclaim() {
  trim();
  for (int i = 0; i < kAttempts && account().workspace && release_for_tensors_(); ++i) {
  }
}

void Allocator::set_release_for_tensors(std::function<bool()> release_for_tensors) {
  std::lock_guard lock(mutex_);
  release_for_tensors_ = std::move(release_for_tensors);
}

uint64_t Allocator::available() const {
  std::lock_guard lock(mutex_);
  return raw_.available();
}

MemoryAccount Allocator::account() const {
  std::lock_guard lock(mutex_);
  return account_;
}

void Allocator::reset_peak() {
  std::lock_guard lock(mutex_);
  account_.peak = held();
}

void Allocator::set_budget(std::optional<uint64_t> bytes) {
  std::lock_guard lock(mutex_);
  account_.budget = bytes.value_or(0);
  has_large_tensors_ = false;
  largest_ = 0;
}

}  // namespace kaiseki
