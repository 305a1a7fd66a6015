// SPDX-License-Identifier: MIT
#include "matrix/memory/spill.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "matrix/memory/copy_threads.h"
#include "matrix/memory/spill_file.h"

namespace kaiseki {
namespace {

class SpillMemory : public RawMemory {
 public:
  void set_store(SpillStore store) {
    std::lock_guard lock(mutex_);
    enabled_ = store != nullptr;
    store_ = std::move(store);
  }
  bool enabled() const { return enabled_; }

  std::unique_ptr<SpillPlace> make_place(uint64_t bytes) {
    SpillStore store;
    {
      std::lock_guard lock(mutex_);
      store = store_;
    }
    return store ? store(bytes) : nullptr;
  }
  void* allocate(uint64_t bytes) override { return make_place(bytes).release(); }

  void release(void* block) noexcept override {
    copy_threads().forget_place(block);
    delete static_cast<SpillPlace*>(block);
  }

  void reuse(void* block) override { copy_threads().forget_place(block); }
  bool is_copied(const void* block, uint64_t) const override {
    return copy_threads().uses_place(block);
  }

 private:
  std::mutex mutex_;
  SpillStore store_;
  std::atomic<bool> enabled_ = false;
};

SpillStore store_in(const std::filesystem::path& folder) {
  if (folder.empty()) return nullptr;
  return [folder](uint64_t bytes) { return make_spill_file(folder, bytes); };
}

SpillMemory& memory() {
  static SpillMemory* one = [] {
    auto* created = new SpillMemory;  // outlives every static tensor
    created->set_store(store_in(environment().spill_dir));
    return created;
  }();
  return *one;
}

}  // namespace

void set_spill_folder(const std::filesystem::path& folder) {
  SpillStore store = store_in(folder);
  if (store && !store(1))
    throw Error(message("memory", "expected room for files in ", folder.string(), ", got none"));
  memory().set_store(std::move(store));
}

void set_spill_store(SpillStore store) { memory().set_store(std::move(store)); }

RawMemory* spill_memory() { return memory().enabled() ? &memory() : nullptr; }

std::unique_ptr<SpillPlace> make_place(uint64_t bytes) { return memory().make_place(bytes); }

bool has_places(const RawMemory& other) { return &other == &memory(); }

}  // namespace kaiseki
