// SPDX-License-Identifier: MIT
// Replaces gzip.cc and deflate.cc in a build without zlib: every use throws.
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
uint32_t crc32_of(ByteView) { throw Error(message("crc32", kNoDeflate)); }

}  // namespace kaiseki::nn
