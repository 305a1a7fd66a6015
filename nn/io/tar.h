// SPDX-License-Identifier: MIT
// tar archives, read from front to back: ustar, GNU long names, pax paths and sizes; and written as
// ustar with pax paths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nn/io/bytes.h"

namespace kaiseki::nn {

struct TarEntry {
  std::string path;  // as stored, without "./" before it and '/' after it
  uint64_t bytes = 0;
  bool is_file = false;  // a regular file; folders and links are not
};

class TarReader {
 public:
  /// `source` must live as long as this.
  explicit TarReader(ByteSource& source) : source_(source) {}

  /// Goes to the next entry; false at the end. Throws ParseError.
  bool next(TarEntry& entry);
  /// The bytes of the entry that next() gave; once. Throws ParseError when they are more than
  /// `limit` or not all there.
  ByteVector read(uint64_t limit);
  /// Where they begin in the source.
  uint64_t data_position() const { return data_position_; }

 private:
  ByteSource& source_;
  uint64_t left_ = 0, padding_ = 0;  // of the present entry
  uint64_t data_position_ = 0;
};

/// Appends one regular file: header, contents, padding. The time is 0, so equal contents make equal
/// archives.
void append_tar_file(ByteVector& archive, std::string_view path, ByteView contents);
/// The header alone; tar_padding(bytes) zeros must follow the contents.
ByteVector tar_header(std::string_view path, uint64_t bytes);
inline size_t tar_padding(uint64_t bytes) { return static_cast<size_t>(-bytes & 511); }
/// The two empty blocks that end an archive.
void finish_tar(ByteVector& archive);

}  // namespace kaiseki::nn
