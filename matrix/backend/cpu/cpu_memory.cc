// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/cpu_memory.h"

#include <unordered_map>

#include "matrix/memory/copy_threads.h"
#include "matrix/memory/host.h"
#include "matrix/memory/host_room.h"
#include "matrix/memory/spill.h"

namespace kaiseki {
namespace {

class CpuMemory : public RawMemory {
 public:
  uint64_t available() const override { return spare_host_memory(); }
  void* allocate(uint64_t bytes) override { return allocate_host(bytes); }
  void release(void* block) noexcept override { release_host(block); }
  bool commit(void* block, uint64_t bytes) noexcept override {
    touch_host(block, bytes);
    return true;
  }
  std::optional<BlockDivision> division() const override { return host_division(); }
  void discard(void* part, uint64_t bytes) noexcept override { discard_host(part, bytes); }
};

#ifdef __linux__  // other systems have no files without names

/// Memory that gets other contents, or that the system takes back, waits for its copies.
class CpuMemoryWithStore : public CpuMemory {
 public:
  void* allocate(uint64_t bytes) override {
    void* block = CpuMemory::allocate(bytes);
    if (block) sizes_[block] = bytes;
    return block;
  }
  void release(void* block) noexcept override {
    reuse(block);
    sizes_.erase(block);
    CpuMemory::release(block);
  }
  void* part(void* block, uint64_t offset, uint64_t bytes) override {
    void* const part = CpuMemory::part(block, offset, bytes);
    copy_threads().forget(part, bytes);
    return part;
  }
  void discard(void* part, uint64_t bytes) noexcept override {
    copy_threads().forget(part, bytes);
    CpuMemory::discard(part, bytes);
  }
  void reuse(void* block) noexcept override { copy_threads().forget(block, sizes_.at(block)); }

  RawMemory* backing() override { return spill_memory(); }
  void start_upload(void* block, const void* place, uint64_t bytes) override {
    start_upload(block, place, one_row(bytes));
  }
  void start_download(void* place, void* block, uint64_t bytes) override {
    start_download(place, block, one_row(bytes));
  }
  void start_upload(void* block, const void* place, const CopyRegion& region) override {
    const auto read = [=] { static_cast<const SpillPlace*>(place)->read(block, region); };
    copy_threads().start(
        {CopyWay::to_memory, block, end_in_block(region), place, rows_of_place(region), read});
  }
  void start_download(void* place, void* block, const CopyRegion& region) override {
    const auto write = [=] { static_cast<SpillPlace*>(place)->write(block, region); };
    copy_threads().start(
        {CopyWay::to_store, block, end_in_block(region), place, rows_of_place(region), write});
  }
  void finish_copies_of_block(const void* block, uint64_t bytes) override {
    copy_threads().finish(block, bytes);
  }
  bool is_copied(const void* block, uint64_t bytes) const override {
    return copy_threads().uses(block, bytes);
  }

 private:
  static CopyRegion one_row(uint64_t bytes) {
    CopyRegion region;
    region.row = bytes;
    return region;
  }

  /// Planes whose distance is no multiple of that of rows are one long row.
  static RowsOfPlace rows_of_place(const CopyRegion& region) {
    RowsOfPlace rows{.first = region.host.first, .row = region.row};
    region.for_each_row([&](uint64_t, uint64_t on_host) { rows.end = on_host + region.row; });
    const uint64_t rows_apart = region.rows > 1 ? region.host.row_pitch : 0;
    const uint64_t planes_apart = region.planes > 1 ? region.host.plane_pitch : 0;
    if (!rows_apart)
      rows.pitch = planes_apart;
    else if (planes_apart % rows_apart == 0)
      rows.pitch = rows_apart;
    return rows;
  }

  static uint64_t end_in_block(const CopyRegion& region) {
    uint64_t end = 0;
    region.for_each_row([&](uint64_t in_block, uint64_t) { end = in_block + region.row; });
    return end;
  }

  std::unordered_map<void*, uint64_t> sizes_;  // bytes of the blocks
};

#endif

}  // namespace

#ifdef __linux__
RawMemory& cpu_memory() {
  static auto* const memory = new CpuMemoryWithStore;  // outlives every static tensor
  return *memory;
}

void finish_cpu_copies() { copy_threads().finish_all(); }
#else
RawMemory& cpu_memory() {
  static CpuMemory memory;
  return memory;
}

void finish_cpu_copies() {}
#endif

}  // namespace kaiseki
