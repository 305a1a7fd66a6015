// SPDX-License-Identifier: MIT
// Replaces gzip.cc and deflate.cc in a build without zlib. Packing and unpacking throw. Checksums
// work, because an archive may store its files without packing them.
#include <array>

#include "base/error.h"
#include "nn/io/deflate.h"
#include "nn/io/gzip.h"

namespace kaiseki::nn {
namespace {

constexpr std::string_view kProblem = "this build of Kaiseki has no gzip; build it with zlib";
constexpr std::string_view kNoDeflate = "this build of Kaiseki has no deflate; build it with zlib";

}  // namespace

struct GzipSource::State {};

GzipSource::GzipSource(std::unique_ptr<ByteSource> packed, uint64_t) : ByteSource(packed->name()) {
  packed->fail(kProblem);
}

GzipSource::~GzipSource() = default;

size_t GzipSource::read(std::span<std::byte>) { return 0; }

ByteVector gzip(ByteView, int) { throw Error(message("gzip", kProblem)); }

ByteVector inflate_raw(ByteView, uint64_t, const std::string&) {
  throw Error(message("deflate", kNoDeflate));
}
ByteVector deflate_raw(ByteView) { throw Error(message("deflate", kNoDeflate)); }

uint32_t crc32_of(ByteView bytes) {
  static const std::array<uint32_t, 256> steps = [] {
    std::array<uint32_t, 256> all{};
    for (uint32_t i = 0; i < all.size(); ++i) {
      all[i] = i;
      for (int bit = 0; bit < 8; ++bit) all[i] = all[i] >> 1 ^ (all[i] & 1 ? 0xEDB88320 : 0);
    }
    return all;
  }();
  uint32_t crc = ~uint32_t{0};
  for (const std::byte byte : bytes)
    crc = crc >> 8 ^ steps[(crc ^ static_cast<uint32_t>(byte)) & 255];
  return ~crc;
}

}  // namespace kaiseki::nn
