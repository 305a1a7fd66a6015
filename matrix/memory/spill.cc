// SPDX-License-Identifier: MIT
#include "matrix/memory/spill.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>
#endif

#include "base/environment.h"
#include "base/error.h"
#include "base/timeline.h"

namespace kaiseki {
namespace {

struct SpillFile {
  int descriptor;
};

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

#else

[[noreturn]] void fail() {
  throw Error(message("memory", "expected a system with unnamed files, got another one"));
}

#endif

class SpillFiles : public RawMemory {
 public:
  void set_folder(const std::filesystem::path& folder) {
    std::lock_guard lock(mutex_);
    folder_ = folder;
    enabled_ = !folder.empty();
  }
  bool enabled() const { return enabled_; }

  /// Reserves the room on the disk, so that a full disk is noticed now. Returns nullptr then.
  void* allocate(uint64_t bytes) override {
#ifdef __linux__
    std::filesystem::path folder;
    {
      std::lock_guard lock(mutex_);
      folder = folder_;
    }
    const int descriptor = open_unnamed(folder);
    if (descriptor < 0) fail("make", errno);
    const int error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
    if (error == 0) return new SpillFile{descriptor};
    ::close(descriptor);
    if (error != ENOSPC && error != EFBIG) fail("enlarge", error);
    return nullptr;
#else
    (void)bytes;
    fail();
#endif
  }

  void release(void* block) noexcept override {
    auto* file = static_cast<SpillFile*>(block);
#ifdef __linux__
    ::close(file->descriptor);
#endif
    delete file;
  }

 private:
  std::mutex mutex_;
  std::filesystem::path folder_;
  std::atomic<bool> enabled_ = false;
};

SpillFiles& files() {
  static SpillFiles* one = [] {
    auto* created = new SpillFiles;  // outlives every static tensor
    created->set_folder(environment().spill_dir);
    return created;
  }();
  return *one;
}

}  // namespace

void set_spill_folder(const std::filesystem::path& folder) {
  files().set_folder(folder);
  if (folder.empty()) return;
  if (void* probe = files().allocate(1))
    files().release(probe);
  else
    throw Error(message("memory", "expected room for files in ", folder.string(), ", got none"));
}

RawMemory* spill_files() { return files().enabled() ? &files() : nullptr; }

void write_spilled(void* file, const void* from, uint64_t bytes) {
#ifdef __linux__
  const TimelineSpan span("files", "write", bytes);
  const int descriptor = static_cast<SpillFile*>(file)->descriptor;
  move_all("write", bytes, [&](uint64_t done) {
    return ::pwrite(descriptor, static_cast<const char*>(from) + done, bytes - done,
                    static_cast<off_t>(done));
  });
#else
  (void)file, (void)from, (void)bytes;
  fail();
#endif
}

void read_spilled(const void* file, void* to, uint64_t bytes) {
#ifdef __linux__
  const TimelineSpan span("files", "read", bytes);
  const int descriptor = static_cast<const SpillFile*>(file)->descriptor;
  move_all("read", bytes, [&](uint64_t done) {
    return ::pread(descriptor, static_cast<char*>(to) + done, bytes - done,
                   static_cast<off_t>(done));
  });
#else
  (void)file, (void)to, (void)bytes;
  fail();
#endif
}

}  // namespace kaiseki
