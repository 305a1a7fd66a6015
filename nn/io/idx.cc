// SPDX-License-Identifier: MIT
#include "nn/io/idx.h"

#include "base/error.h"
#include "nn/io/gzip.h"

namespace kaiseki::nn {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 31;
constexpr std::byte kUnsignedByte{8};

}  // namespace

IdxArray read_idx(ByteSource& source) {
  std::byte header[4];
  source.read_exactly(header, "an IDX header");
  if (header[0] != std::byte{0} || header[1] != std::byte{0})
    source.fail("the magic number of IDX is missing");
  if (header[2] != kUnsignedByte)
    source.fail("expected elements of type 8 (unsigned byte), got type " +
                std::to_string(std::to_integer<int>(header[2])));
  int rank = std::to_integer<int>(header[3]);
  if (rank < 1 || rank > Shape::kMaxRank)
    source.fail("expected 1 to 8 dimensions, got " + std::to_string(rank));
  IdxArray array;
  uint64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    std::byte dim[4];
    source.read_exactly(dim, "a dimension");
    uint64_t length = load_be<uint32_t>(dim);
    array.shape.push_back(static_cast<int64_t>(length));
    if (length && count > kMaxBytes / length)
      source.fail("expected at most 2 GiB of elements, got shape " + array.shape.str());
    count *= length;
  }
  array.bytes = source.read_bytes(count, "elements of shape " + array.shape.str());
  std::byte extra[1];
  if (source.read(extra)) source.fail("bytes follow the last element");
  return array;
}

IdxArray read_idx(const std::filesystem::path& path) {
  return read_idx(*open_maybe_gzip(path, kMaxBytes + (1 << 20)));
}

}  // namespace kaiseki::nn
