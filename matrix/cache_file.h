// SPDX-License-Identifier: MIT
// Files of the cache folder: written under another name and moved into place, checked when read,
// and the oldest removed when they grow too many.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kaiseki {

/// Sixteen hexadecimal digits of the text's FNV-1a hash, twice seeded.
std::string hash_name(std::string_view text);
/// The library's version: part of every key.
std::string library_version();

/// False when the file could not be written; nothing is left behind then.
bool write_atomically(const std::filesystem::path& file, std::string_view contents);

/// While it lives, other processes that take the same lock wait, but not for long, and not again
/// before one was free: a process that was stopped holds nobody up.
class CacheLock {
 public:
  explicit CacheLock(const std::filesystem::path& file);
  ~CacheLock();
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;

 private:
  int file_;
};

/// A binary with a header (magic, length, hash). Empty when there is no such file, or a damaged
/// one.
std::string read_binary(const std::filesystem::path& file);
bool write_binary(const std::filesystem::path& file, std::string_view binary);

/// Removes what a process that was killed in write_atomically() left in the folder an hour ago or
/// longer: files of such names, no others.
void remove_leftovers(const std::filesystem::path& folder);

/// The same, and the files with this extension that were written first until the rest is at most
/// `limit` bytes.
void remove_oldest(const std::filesystem::path& folder, std::string_view extension, uint64_t limit);

}  // namespace kaiseki
