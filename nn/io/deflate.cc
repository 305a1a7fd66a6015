// SPDX-License-Identifier: MIT
#include "nn/io/deflate.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace kaiseki::nn {
namespace {

constexpr int kRawWindow = -15;             // zlib's window bits, without a header
constexpr size_t kMostAtOnce = 0xFF000000;  // zlib counts in 32 bits

}  // namespace

ByteVector inflate_raw(ByteView packed, uint64_t size, const std::string& source) {
  auto fail = [&](const std::string& what) { throw ParseError(source, "deflate", what); };
  if (packed.size() > kMostAtOnce) fail("expected less than 4 GiB of packed data");
  z_stream stream{};
  if (inflateInit2(&stream, kRawWindow) != Z_OK)
    throw Error(message("deflate", "zlib does not start: ", zError(Z_MEM_ERROR)));
  stream.next_in = reinterpret_cast<const Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  ByteVector content;
  std::array<std::byte, 1 << 16> block;
  int status = Z_OK;
  while (status == Z_OK && content.size() <= size) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    status = inflate(&stream, Z_NO_FLUSH);
    content.insert(content.end(), block.data(), block.data() + (block.size() - stream.avail_out));
  }
  const bool used = stream.avail_in == 0;
  inflateEnd(&stream);
  if (status != Z_STREAM_END || !used || content.size() != size)
    fail("expected " + std::to_string(size) + " bytes of content, got damaged data");
  return content;
}

ByteVector deflate_raw(ByteView bytes) {
  if (bytes.size() > kMostAtOnce)
    throw Error(
        message("deflate", "expected less than 4 GiB to pack, got ", bytes.size(), " bytes"));
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawWindow, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw Error(message("deflate", "zlib does not start: ", zError(Z_MEM_ERROR)));
  ByteVector packed(deflateBound(&stream, bytes.size()));
  stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

uint32_t crc32_of(ByteView bytes) {
  uLong crc = 0;
  while (!bytes.empty()) {
    const ByteView part = bytes.first(std::min(bytes.size(), kMostAtOnce));
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    bytes = bytes.subspan(part.size());
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace kaiseki::nn
