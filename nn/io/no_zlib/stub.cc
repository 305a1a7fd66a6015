// SPDX-License-Identifier: MIT
// Stands in for gzip in a build without zlib.
#include "matrix/error.h"
#include "nn/io/gzip.h"

namespace kaiseki::nn {
namespace {

constexpr std::string_view kProblem = "this build of Kaiseki cannot pack or unpack gzip";

}  // namespace

struct GzipSource::State {};

GzipSource::GzipSource(std::unique_ptr<ByteSource> packed, uint64_t) : ByteSource(packed->name()) {
  packed->fail(kProblem);
}

GzipSource::~GzipSource() = default;

size_t GzipSource::read(std::span<std::byte>) { return 0; }

ByteVector gzip(ByteView, int) { throw Error(message("gzip", kProblem)); }

}  // namespace kaiseki::nn
