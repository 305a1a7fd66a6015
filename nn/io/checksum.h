// SPDX-License-Identifier: MIT
// The SHA-256 in the JSON header of a file of tensors. It finds damage that no length or name
// shows. Its key in the metadata is "kaiseki_sha256". The hash is of the header and of the parts
// that follow. In the header, zeros take the place of the checksum's digits.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/sha256.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

/// Adds the checksum to the metadata, as zeros.
Metadata with_checksum(Metadata metadata);

/// Replaces these zeros by the SHA-256 of the header and the parts.
class ChecksumWriter {
 public:
  explicit ChecksumWriter(std::string& header);
  void add(ByteView part) { hash_.update(part); }
  void finish();

 private:
  std::string& header_;
  Sha256 hash_;
};

/// Compares the checksum in a header with that of the header and the parts.
class ChecksumCheck {
 public:
  /// Removes the checksum from the metadata. If there is none, finish() does nothing. Throws
  /// ParseError.
  ChecksumCheck(std::string_view header, Metadata& metadata, std::string_view source);
  void add(ByteView part);
  /// Throws ParseError if they differ.
  void finish();

 private:
  std::string source_, expected_;
  Sha256 hash_;
};

}  // namespace kaiseki::nn
