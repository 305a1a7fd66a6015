// SPDX-License-Identifier: MIT
// Files of the cache folder. They are written under another name and renamed, and checked when
// read. The oldest are removed if they grow too large.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kaiseki {

/// Sixteen hexadecimal digits: the text's FNV-1a hash with two seeds.
std::string hash_name(std::string_view text);
/// The library's version, which is part of every key.
std::string library_version();

/// Writes the file with write_file_atomic() and FileSync::skip, and creates its folder. Returns
/// false if the file could not be written. In that case it leaves no file.
bool write_cache_file(const std::filesystem::path& file, std::string_view contents);

/// A lock between processes. While it is held, others wait for it for a short time and then
/// continue. After a time-out, a process does not wait again until it finds the lock free. A
/// stopped process therefore delays each other process only once.
class CacheLock {
 public:
  explicit CacheLock(const std::filesystem::path& file);
  ~CacheLock();
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;

 private:
  int file_;
};

/// Reads a binary with a header (magic, length, hash). Returns an empty string if the file is
/// missing or damaged.
std::string read_binary(const std::filesystem::path& file);
bool write_binary(const std::filesystem::path& file, std::string_view binary);

/// Removes temporary files, at least an hour old, of processes that were killed in
/// write_cache_file(). Other files are not touched.
void remove_leftovers(const std::filesystem::path& folder);

/// Also removes the oldest files with this extension until the rest has at most `limit` bytes.
void remove_oldest(const std::filesystem::path& folder, std::string_view extension, uint64_t limit);

}  // namespace kaiseki
