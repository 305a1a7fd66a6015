// SPDX-License-Identifier: MIT
// Files: reads them as streams, and writes them in one step. After a crash there is either the old
// or the new file.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace kaiseki {

/// A file on disk. Throws Error with the path and the system's reason if it cannot be read.
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
  std::optional<uint64_t> size_;  // unknown for a pipe and in /proc
};

/// Reads the whole file. Throws Error if it cannot be read, ParseError if it has more than `limit`
/// bytes.
ByteVector read_file(const std::filesystem::path& path, uint64_t limit = uint64_t{1} << 32);

/// Whether a write waits until the file is on the disk. Without the wait, the new file may be
/// damaged if the machine crashes soon after.
enum class FileSync : uint8_t { wait, skip };

/// Writes the parts into a temporary file in the folder of `path`, syncs it to disk and renames it.
/// Throws Error with the path and the reason ("No space left on device"). After an error the old
/// file is unchanged, and the temporary file is deleted.
void write_file_atomic(const std::filesystem::path& path, std::span<const ByteView> parts);
void write_file_atomic(const std::filesystem::path& path, ByteView bytes,
                       FileSync sync = FileSync::wait);
/// The same for parts that need not be in memory together. Calls `write` once, which calls its
/// argument for each part.
using FileParts = std::function<void(const std::function<void(ByteView)>& append)>;
void write_file_atomic(const std::filesystem::path& path, const FileParts& write,
                       FileSync sync = FileSync::wait);

/// Throws Error, as write_file_atomic() does, if no file can be created at `path`. Call it before
/// long work. It leaves no file.
void expect_writable(const std::filesystem::path& path);

}  // namespace kaiseki
