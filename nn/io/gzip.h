// SPDX-License-Identifier: MIT
// gzip (RFC 1952) through zlib: streams with several members, bounded output.
#pragma once

#include <filesystem>
#include <memory>

#include "base/bytes.h"

namespace kaiseki::nn {

/// The content of a gzip stream. Throws ParseError if it is damaged, truncated, or has more than
/// `limit` bytes. If the size of `packed` is known, contents above 64 MiB may have at most 32 times
/// that size.
class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, uint64_t limit);
  ~GzipSource() override;
  size_t read(std::span<std::byte> out) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the source itself, or its content if it begins with gzip's magic number.
std::unique_ptr<ByteSource> open_maybe_gzip(const std::filesystem::path& path, uint64_t limit);
std::unique_ptr<ByteSource> maybe_gzip(std::unique_ptr<ByteSource> source, uint64_t limit);

/// Compress and decompress in memory. gzip() accepts less than 4 GiB.
ByteVector gunzip(ByteView packed, uint64_t limit, std::string name = "memory");
ByteVector gzip(ByteView bytes, int level = 6);

}  // namespace kaiseki::nn
