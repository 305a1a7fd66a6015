// SPDX-License-Identifier: MIT
#include "matrix/memory/spill.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>
#endif

#include "base/environment.h"
#include "base/error.h"
#include "base/timeline.h"
#include "matrix/memory/copy_threads.h"

namespace kaiseki {
namespace {

#ifdef __linux__

[[noreturn]] void fail(const char* what, int error) {
  throw Error(message("memory", "cannot ", what, " a file for tensors: ", std::strerror(error)));
}

/// Returns a descriptor, or -1 with errno.
int open_unnamed(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
  std::string name = folder / "kaiseki-XXXXXX";  // mkostemp() replaces the letters X
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

/// Calls `move` (pread or pwrite) until all bytes are done.
template <typename Move>
void move_all(const char* what, uint64_t bytes, const Move& move) {
  for (uint64_t done = 0; done < bytes;) {
    const auto now = move(done);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) fail(what, errno);
    if (now == 0) fail(what, EIO);
    done += static_cast<uint64_t>(now);
  }
}

class SpillFile : public SpillPlace {
 public:
  explicit SpillFile(int descriptor) : descriptor_(descriptor) {}
  ~SpillFile() override { ::close(descriptor_); }
  SpillFile(const SpillFile&) = delete;

  void write(const void* from, const CopyRegion& region) override {
    const TimelineSpan span("file writes", "write", region.bytes());
    region.for_each_row([&](uint64_t in_memory, uint64_t in_file) {
      move_all("write", region.row, [&](uint64_t done) {
        return ::pwrite(descriptor_, static_cast<const char*>(from) + in_memory + done,
                        region.row - done, static_cast<off_t>(in_file + done));
      });
    });
  }

  void read(void* to, const CopyRegion& region) const override {
    const TimelineSpan span("file reads", "read", region.bytes());
    region.for_each_row([&](uint64_t in_memory, uint64_t in_file) {
      move_all("read", region.row, [&](uint64_t done) {
        return ::pread(descriptor_, static_cast<char*>(to) + in_memory + done, region.row - done,
                       static_cast<off_t>(in_file + done));
      });
    });
  }

 private:
  const int descriptor_;
};

/// Reserves the room on the disk, so that a full disk is noticed now. Returns nullptr then, and if
/// too many files are open.
std::unique_ptr<SpillPlace> make_file(const std::filesystem::path& folder, uint64_t bytes) {
  const int descriptor = open_unnamed(folder);
  if (descriptor < 0 && (errno == EMFILE || errno == ENFILE)) return nullptr;
  if (descriptor < 0) fail("make", errno);
  auto file = std::make_unique<SpillFile>(descriptor);
  int error = 0;
  do error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  if (error == 0) return file;
  if (error != ENOSPC && error != EFBIG && error != EDQUOT) fail("enlarge", error);
  return nullptr;
}

#else

std::unique_ptr<SpillPlace> make_file(const std::filesystem::path&, uint64_t) {
  throw Error(message("memory", "expected a system with unnamed files, got another one"));
}

#endif

class SpillMemory : public RawMemory {
 public:
  void set_store(SpillStore store) {
    std::lock_guard lock(mutex_);
    enabled_ = store != nullptr;
    store_ = std::move(store);
  }
  bool enabled() const { return enabled_; }

  void* allocate(uint64_t bytes) override {
    SpillStore store;
    {
      std::lock_guard lock(mutex_);
      store = store_;
    }
    return store ? store(bytes).release() : nullptr;
  }

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
  return [folder](uint64_t bytes) { return make_file(folder, bytes); };
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

bool has_places(const RawMemory& other) { return &other == &memory(); }

}  // namespace kaiseki
