// SPDX-License-Identifier: MIT
// Files: reading as a stream, and writing so that a crash leaves either the old file or the new
// one.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

#include "nn/io/bytes.h"

namespace kaiseki::nn {

/// A file on disk. Throws Error with the path and the system's reason when it cannot be read.
class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& path);
  size_t read(std::span<std::byte> out) override;
  std::optional<uint64_t> remaining() const override;
  void skip(uint64_t count, std::string_view what) override;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  uint64_t size_ = 0;  // 0: not known (a pipe, /proc)
};

/// The whole file. Throws Error when it cannot be read, ParseError when it is over `limit` bytes.
ByteVector read_file(const std::filesystem::path& path, uint64_t limit = uint64_t{1} << 32);

/// Writes the parts one after the other into a temporary file beside `path`, brings it to the disk
/// and renames it. Throws Error with the path and the reason ("No space left on device"); the old
/// file, if any, is then untouched and the temporary one is gone.
void write_file_atomic(const std::filesystem::path& path, std::span<const ByteView> parts);
void write_file_atomic(const std::filesystem::path& path, ByteView bytes);

/// Throws Error, as write_file_atomic() would, when no file can be made at `path`: to say so before
/// long work. Leaves nothing behind.
void expect_writable(const std::filesystem::path& path);

}  // namespace kaiseki::nn
