// SPDX-License-Identifier: MIT
// IDX, the format of MNIST: two zero bytes, the type, the rank, big-endian dimensions, then the
// elements.
#pragma once

#include <filesystem>

#include "base/bytes.h"
#include "matrix/shape.h"

namespace kaiseki::nn {

struct IdxArray {
  Shape shape;
  ByteVector bytes;  // type 8: unsigned byte, row-major
};

/// Reads one array of unsigned bytes. Throws ParseError for another type, an early end, or extra
/// bytes.
IdxArray read_idx(ByteSource& source);
/// Reads a file, plain or compressed with gzip.
IdxArray read_idx(const std::filesystem::path& path);

}  // namespace kaiseki::nn
