// SPDX-License-Identifier: MIT
#include "nn/io/gzip.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/file.h"

namespace kaiseki::nn {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's window bits, with gzip's header and checksum
/// A small file may otherwise ask for 1032 times its size. Pictures and weights reach about 10.
constexpr uint64_t kMostRatio = 32, kSmallContents = uint64_t{1} << 26;

}  // namespace

struct GzipSource::State {
  std::unique_ptr<ByteSource> packed;
  uint64_t limit = 0;
  z_stream stream{};
  std::array<std::byte, 1 << 16> input;
  bool at_end = false;

  /// Reads more input if there is none. Returns false at the end of the file.
  bool refill() {
    if (stream.avail_in == 0) {
      stream.next_in = reinterpret_cast<Bytef*>(input.data());
      stream.avail_in = static_cast<uInt>(packed->read(input));
    }
    return stream.avail_in > 0;
  }

  /// Called after a member. Returns true if another member follows. Skips padding of zeros.
  bool next_member() {
    while (refill()) {
      if (*stream.next_in == 0x1f) return inflateReset(&stream) == Z_OK;
      if (*stream.next_in != 0) packed->fail("bytes follow the end of the gzip stream");
      ++stream.next_in;
      --stream.avail_in;
    }
    return false;
  }
};

GzipSource::GzipSource(std::unique_ptr<ByteSource> packed, uint64_t limit)
    : ByteSource(packed->name()), state_(std::make_unique<State>()) {
  if (const auto bytes = packed->remaining())
    limit = std::min(limit, std::max(kSmallContents, kMostRatio * *bytes));
  state_->packed = std::move(packed);
  state_->limit = limit;
  if (inflateInit2(&state_->stream, kGzipWindow) != Z_OK)
    throw Error(message("gzip", "zlib does not start: ", zError(Z_MEM_ERROR)));
}

GzipSource::~GzipSource() { inflateEnd(&state_->stream); }

size_t GzipSource::read(std::span<std::byte> out) {
  State& s = *state_;
  size_t done = 0;
  while (done < out.size() && !s.at_end) {
    if (!s.refill())
      s.packed->fail("expected the rest of the gzip stream, got the end of the file");
    uInt room = static_cast<uInt>(std::min<size_t>(out.size() - done, 1u << 30));
    s.stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    s.stream.avail_out = room;
    int status = inflate(&s.stream, Z_NO_FLUSH);
    done += room - s.stream.avail_out;
    if (status == Z_STREAM_END)
      s.at_end = !s.next_member();
    else if (status != Z_OK && status != Z_BUF_ERROR)
      s.packed->fail("damaged data in a gzip stream: " +
                     std::string(s.stream.msg ? s.stream.msg : zError(status)));
    if (position_ + done > s.limit)
      s.packed->fail("the file has more than " + std::to_string(s.limit) +
                     " unpacked bytes; unpack it first");
  }
  position_ += done;
  return done;
}

ByteVector gzip(ByteView bytes, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(message("gzip", "expected a level from 0 to 9, got ", level));
  ByteVector packed(deflateBound(&stream, bytes.size()));
  stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END || bytes.size() >> 32)
    throw Error(message("gzip", "expected less than 4 GiB to pack, got ", bytes.size(), " bytes"));
  return packed;
}

}  // namespace kaiseki::nn
