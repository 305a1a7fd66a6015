// SPDX-License-Identifier: MIT
// IDX, the format of MNIST: two zero bytes, the type, the rank, big-endian dimensions, the
// elements.
#pragma once

#include <filesystem>

#include "matrix/shape.h"
#include "nn/io/bytes.h"

namespace kaiseki::nn {

struct IdxArray {
  Shape shape;
  ByteVector bytes;  // type 8: unsigned byte, row-major
};

/// One array of unsigned bytes. Throws ParseError on another type, on an early end, on bytes that
/// follow.
IdxArray read_idx(ByteSource& source);
/// Plain or gzip-compressed.
IdxArray read_idx(const std::filesystem::path& path);

ByteVector encode_idx(const IdxArray& array);

}  // namespace kaiseki::nn
