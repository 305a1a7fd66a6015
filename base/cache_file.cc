// SPDX-License-Identifier: MIT
#include "base/cache_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"

namespace kaiseki {
namespace {

constexpr int kLockAttempts = 1000;  // one millisecond each
constexpr std::string_view kMagic = "kaiseki-binary-1\n";
constexpr std::string_view kTemporary = ".tmp-";

uint64_t fnv1a(std::string_view text, uint64_t hash) {
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

std::string hex(uint64_t value) {
  std::byte bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(value >> (56 - 8 * i));
  return to_hex(bytes);
}

/// Matches the temporary names of write_file_atomic(): "FILE.tmp-78-2".
bool is_temporary(const std::filesystem::directory_entry& entry) {
  constexpr std::string_view kDigits = "0123456789";
  const std::string name = entry.path().extension().string();
  const size_t first = kTemporary.size(), dash = name.find_first_not_of(kDigits, first);
  std::error_code ignored;
  return name.starts_with(kTemporary) && dash != std::string::npos && dash > first &&
         name[dash] == '-' && dash + 1 < name.size() &&
         name.find_first_not_of(kDigits, dash + 1) == std::string::npos &&
         std::filesystem::is_regular_file(entry.symlink_status(ignored));
}

}  // namespace

std::string hash_name(std::string_view text) {
  return hex(fnv1a(text, 0xcbf29ce484222325u)) + hex(fnv1a(text, 0x9ae16a3b2f90404fu));
}

std::string library_version() { return KAISEKI_VERSION; }

bool write_cache_file(const std::filesystem::path& file, std::string_view contents) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  try {
    write_file_atomic(file, as_bytes(contents), FileSync::skip);
  } catch (const Error&) {
    return false;
  }
  return true;
}

CacheLock::CacheLock(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  // Skips the wait after a time-out, until a lock is free again.
  static std::atomic<bool> was_held_up;
  const int attempts = was_held_up ? 1 : kLockAttempts;
  file_ = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  bool taken = false;
  for (int i = 0; file_ >= 0 && !taken && i < attempts; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    taken = flock(file_, LOCK_EX | LOCK_NB) == 0;
  }
  was_held_up = !taken;
}

CacheLock::~CacheLock() {
  if (file_ >= 0) close(file_);
}

std::string read_binary(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return {};
  std::string all{std::istreambuf_iterator<char>(in), {}};
  size_t header = kMagic.size() + 32 + 1;
  if (all.size() <= header || !all.starts_with(kMagic)) return {};
  std::string binary = all.substr(header);
  return all.substr(kMagic.size(), 32) == hash_name(binary) ? binary : std::string();
}

bool write_binary(const std::filesystem::path& file, std::string_view binary) {
  std::string all(kMagic);
  all.append(hash_name(binary)).append("\n").append(binary);
  return write_cache_file(file, all);
}

void remove_leftovers(const std::filesystem::path& folder) {
  std::error_code error;
  const auto stale = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (std::filesystem::directory_iterator i(folder, error), end; !error && i != end;
       i.increment(error)) {
    std::error_code gone;
    if (is_temporary(*i) && i->last_write_time(gone) < stale && !gone)
      std::filesystem::remove(i->path(), gone);
  }
}

void remove_oldest(const std::filesystem::path& folder, std::string_view extension,
                   uint64_t limit) {
  remove_leftovers(folder);
  struct Entry {
    std::filesystem::file_time_type written;
    uint64_t bytes;
    std::filesystem::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator i(folder, error), end; !error && i != end;
       i.increment(error)) {
    std::error_code gone;
    if (i->path().extension() != extension) continue;
    Entry entry{i->last_write_time(gone), i->file_size(gone), i->path()};
    if (gone) continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](auto& a, auto& b) { return a.written < b.written; });
  for (size_t i = 0; i < entries.size() && total > limit; ++i) {
    std::filesystem::remove(entries[i].path, error);
    total -= entries[i].bytes;
  }
}

}  // namespace kaiseki
