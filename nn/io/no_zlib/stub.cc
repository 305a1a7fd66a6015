// SPDX-License-Identifier: MIT
// Replaces gzip.cc in a build without zlib: every use throws.
#include "base/error.h"
#include "nn/io/gzip.h"

namespace kaiseki::nn {
namespace {

constexpr std::string_view kProblem = "this build of Kaiseki has no gzip; build it with zlib";

}  // namespace

struct GzipSource::State {};

GzipSource::GzipSource(std::unique_ptr<ByteSource> packed, uint64_t) : ByteSource(packed->name()) {
  packed->fail(kProblem);
}

GzipSource::~GzipSource() = default;

size_t GzipSource::read(std::span<std::byte>) { return 0; }

ByteVector gzip(ByteView, int) { throw Error(message("gzip", kProblem)); }

}  // namespace kaiseki::nn
