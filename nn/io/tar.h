// SPDX-License-Identifier: MIT
// tar archives. Reads ustar, GNU long names, pax paths and sizes, from front to back. Writes ustar
// with pax paths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace kaiseki::nn {

struct TarEntry {
  std::string path;  // as stored, without leading "./" and trailing '/'
  uint64_t bytes = 0;
  bool is_file = false;  // a regular file, not a folder or link
};

/// Reads the first block of a source. Returns whether it is a tar header with its checksum.
bool begins_as_tar(ByteSource& source);

class TarReader {
 public:
  /// `source` must live as long as this.
  explicit TarReader(ByteSource& source) : source_(source) {}

  /// Goes to the next entry. Returns false at the end. Throws ParseError.
  bool next(TarEntry& entry);
  /// Reads the bytes of the current entry. Can be called once. Throws ParseError if the entry has
  /// more than `limit` bytes or the archive ends early.
  ByteVector read(uint64_t limit);
  /// The position of the entry's bytes in the source.
  uint64_t data_position() const { return data_position_; }

 private:
  ByteSource& source_;
  uint64_t left_ = 0, padding_ = 0;  // of the current entry
  uint64_t data_position_ = 0;
};

/// Appends one regular file: header, contents, padding. The time is 0, so equal contents give equal
/// archives.
void append_tar_file(ByteVector& archive, std::string_view path, ByteView contents);
/// Returns the header only. The contents must follow, then tar_padding(bytes) zeros.
ByteVector tar_header(std::string_view path, uint64_t bytes);
inline size_t tar_padding(uint64_t bytes) { return static_cast<size_t>(-bytes & 511); }

}  // namespace kaiseki::nn
