// SPDX-License-Identifier: MIT
#include "matrix/memory/spill_file.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/timeline.h"
#include "matrix/memory/host.h"

namespace kaiseki {

#ifdef __linux__

namespace {

constexpr uint64_t kBlock = 4096;                        // bytes, as aligned as any disk asks for
constexpr uint64_t kChunk = 4 << 20;                     // bytes of a direct copy
constexpr uint64_t kLeastDirect = uint64_t{256} * 1024;  // bytes; shorter rows go through the cache

[[noreturn]] void fail(const char* what, int error) {
  throw Error(message("memory", "cannot ", what, " a file for tensors: ", std::strerror(error)));
}

/// Returns a descriptor, or -1 with errno.
int open_unnamed(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
  // mkostemp() replaces the six letters X at the end.
  std::string name = folder / ("kaiseki-" + std::string(6, 'X'));
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

/// Returns a descriptor of the same file without the system's cache, or -1. Through the cache, a
/// copy takes several times the processor's time, and memory that the training may need. Leaves
/// half of the descriptors to the program.
int open_direct(int descriptor) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      static_cast<rlim_t>(descriptor) >= limit.rlim_cur / 2)
    return -1;
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT);
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

/// Calls `move` for chunks of whole blocks. Returns the bytes that are done: less if the system
/// refuses or ends in the middle of a block.
template <typename Move>
uint64_t move_blocks(uint64_t bytes, const Move& move) {
  uint64_t done = 0;
  while (done < bytes) {
    const auto now = move(done, std::min(kChunk, bytes - done));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0 || static_cast<uint64_t>(now) % kBlock != 0) break;
    done += static_cast<uint64_t>(now);
  }
  return done;
}

bool is_aligned(const void* memory) { return reinterpret_cast<uintptr_t>(memory) % kBlock == 0; }

/// Aligned memory of this thread for a chunk.
char* chunk() {
  thread_local Scratch scratch;
  return reinterpret_cast<char*>(scratch.reserve(kChunk / sizeof(float)));
}

class SpillFile : public SpillPlace {
 public:
  explicit SpillFile(int descriptor) : descriptor_(descriptor), direct_(open_direct(descriptor)) {}
  ~SpillFile() override {
    ::close(descriptor_);
    if (direct_ >= 0) ::close(direct_);
  }
  SpillFile(const SpillFile&) = delete;

  void write(const void* from, const CopyRegion& region) override {
    const TimelineSpan span("file writes", "write", region.bytes());
    region.for_each_row([&](uint64_t in_memory, uint64_t in_file) {
      const char* row = static_cast<const char*>(from) + in_memory;
      const auto cached = [&](uint64_t first, uint64_t bytes) {
        move_all("write", bytes, [&](uint64_t done) {
          return ::pwrite(descriptor_, row + first + done, bytes - done,
                          at(in_file + first + done));
        });
      };
      const Blocks blocks = blocks_of(in_file, region.row);
      cached(0, blocks.first);
      const uint64_t done = move_blocks(blocks.bytes, [&](uint64_t begin, uint64_t bytes) {
        const char* source = row + blocks.first + begin;
        if (!is_aligned(source)) source = static_cast<char*>(std::memcpy(chunk(), source, bytes));
        return ::pwrite(direct_, source, bytes, at(in_file + blocks.first + begin));
      });
      cached(blocks.first + done, region.row - blocks.first - done);
    });
  }

  void read(void* to, const CopyRegion& region) const override {
    const TimelineSpan span("file reads", "read", region.bytes());
    region.for_each_row([&](uint64_t in_memory, uint64_t in_file) {
      char* row = static_cast<char*>(to) + in_memory;
      const auto cached = [&](uint64_t first, uint64_t bytes) {
        move_all("read", bytes, [&](uint64_t done) {
          return ::pread(descriptor_, row + first + done, bytes - done, at(in_file + first + done));
        });
      };
      const Blocks blocks = blocks_of(in_file, region.row);
      cached(0, blocks.first);
      const uint64_t done = move_blocks(blocks.bytes, [&](uint64_t begin, uint64_t bytes) {
        char* target = row + blocks.first + begin;
        char* memory = is_aligned(target) ? target : chunk();
        const auto now = ::pread(direct_, memory, bytes, at(in_file + blocks.first + begin));
        if (now > 0 && memory != target) std::memcpy(target, memory, static_cast<size_t>(now));
        return now;
      });
      cached(blocks.first + done, region.row - blocks.first - done);
    });
  }

  void flush() override {
    constexpr unsigned kAll =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    if (::sync_file_range(descriptor_, 0, 0, kAll) != 0) fail("write", errno);
    ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
  }

 private:
  /// The whole blocks of a row that are copied directly.
  struct Blocks {
    uint64_t first, bytes;
  };
  static off_t at(uint64_t offset) { return static_cast<off_t>(offset); }

  Blocks blocks_of(uint64_t in_file, uint64_t row) const {
    const uint64_t first = (kBlock - in_file % kBlock) % kBlock;
    if (direct_ < 0 || row < kLeastDirect) return {0, 0};
    return {first, (row - first) / kBlock * kBlock};
  }

  const int descriptor_, direct_;
};

}  // namespace

std::unique_ptr<SpillPlace> make_spill_file(const std::filesystem::path& folder, uint64_t bytes) {
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

std::unique_ptr<SpillPlace> make_spill_file(const std::filesystem::path&, uint64_t) {
  throw Error(
      message("memory", "this system has no unnamed files, so tensors cannot leave the CPU"));
}

#endif

}  // namespace kaiseki
