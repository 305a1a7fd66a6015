// SPDX-License-Identifier: MIT
// Workspace: one block of a device's memory that all its convolutions share, beside the pool of
// tensors, to which it gives way whenever a tensor needs the room ("Automatic convolution
// workspace", section 3); and in what is still free, filters that were prepared.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

#include "matrix/memory/kept.h"
#include "matrix/tensor.h"

namespace kaiseki {

class MemoryPool;

class Workspace {
 public:
  Workspace(Device device, MemoryPool& pool);
  Workspace(const Workspace&) = delete;

  /// Bytes that the block may have, 0 for none; without a value it is automatic: as many as
  /// end_iteration() finds to be of use and free. Gives the present block back.
  void set_limit(std::optional<uint64_t> bytes);

  /// That a block of this size would make a convolution faster: for end_iteration().
  void register_size(uint64_t bytes);
  /// After an iteration (forward, backward, update; or forward alone), when the pool holds all that
  /// an iteration needs: where there is no block or a smaller one, takes the largest registered
  /// size that fits into memory which is neither in use nor cached, and which the system has
  /// available now (MemoryPool::available()). What the device refuses nevertheless is asked for
  /// again when tensors need less, or a hundred iterations later. Forgets the sizes.
  /// Optimizer::step() and forward passes of Phase::test call it.
  void end_iteration();
  /// Takes a block of this size now, as end_iteration() would: so a run that is continued computes
  /// as it did before.
  void reserve(uint64_t bytes);

  /// Bytes of the block; 0 without one.
  uint64_t size() const;
  /// Bytes that use() can give at present. As long as no block had to give way, one of up to a
  /// sixteenth of the device's memory is taken as soon as it is used, before an iteration ended:
  /// it gives way as any, so nothing fails for it.
  uint64_t available() const;
  /// Whether the limit allows a block of this size.
  bool allows(uint64_t bytes) const;

  /// The block while one convolution runs; another thread's waits for its turn.
  struct Use {
    std::unique_lock<std::recursive_mutex> turn;
    Tensor memory;  // u8; no tensor where there is not as much as asked for
  };
  Use use(uint64_t bytes);
  /// The same for a trial: where the block is smaller, automatic workspace gives unused memory
  /// beside it that is returned at the end.
  Use try_out(uint64_t bytes);

  /// What `make` writes for `source` (Kept::of), where automatic workspace has room beside the
  /// block; that is the first to give way, to the block too. Another thread's convolution waits.
  Use keep(const Tensor& source, const Kept::Form& form, const Kept::Make& make);
  /// Bytes of what is kept.
  uint64_t kept_bytes() const;

 private:
  uint64_t room() const;
  uint64_t room_beside() const;
  bool fits(uint64_t bytes, uint64_t room) const;
  Tensor allocate(uint64_t bytes);
  struct Limits {
    uint64_t memory, allocation;  // bytes of the device, and in one buffer; 0: not known
  };
  const Limits& device_limits() const;
  uint64_t device_memory() const;
  bool was_refused(uint64_t bytes, uint64_t held) const;
  bool take(uint64_t bytes, uint64_t room);
  bool give_way();

  Device device_;
  MemoryPool& pool_;
  mutable std::recursive_mutex mutex_;  // held while a convolution uses the block
  std::optional<uint64_t> limit_;
  bool gave_way_ = false;
  mutable std::optional<Limits> limits_;  // once the device was asked
  uint64_t refused_ = UINT64_MAX;         // the least that the device did not give
  uint64_t refused_beside_ = 0;           // bytes of the pool's at that time
  uint64_t since_refused_ = 0;            // iterations
  std::set<uint64_t, std::greater<>> registered_;
  Tensor block_;
  Kept kept_;
};

}  // namespace kaiseki
