// SPDX-License-Identifier: MIT
// gzip (RFC 1952) through zlib: streams with several members, bounded output.
#pragma once

#include <filesystem>
#include <memory>

#include "nn/io/bytes.h"

namespace kaiseki::nn {

/// What a gzip stream holds. Throws ParseError when it is damaged, cut short, or holds more than
/// `limit` bytes.
class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, uint64_t limit);
  ~GzipSource() override;
  size_t read(std::span<std::byte> out) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The source itself, or what it holds when it begins with gzip's magic number.
std::unique_ptr<ByteSource> open_maybe_gzip(const std::filesystem::path& path, uint64_t limit);
std::unique_ptr<ByteSource> maybe_gzip(std::unique_ptr<ByteSource> source, uint64_t limit);

/// The same in memory. gzip() takes less than 4 GiB.
ByteVector gunzip(ByteView packed, uint64_t limit, std::string name = "memory");
ByteVector gzip(ByteView bytes, int level = 6);

}  // namespace kaiseki::nn
