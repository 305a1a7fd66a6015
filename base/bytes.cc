// SPDX-License-Identifier: MIT
#include "base/bytes.h"

#include <algorithm>

#include "base/error.h"

namespace kaiseki {

void ByteSource::fail(std::string_view what) const { throw ParseError(name_, place(), what); }

void ByteSource::read_exactly(std::span<std::byte> out, std::string_view what) {
  if (read(out) != out.size()) fail("expected " + std::string(what) + ", got the end of the file");
}

ByteVector ByteSource::read_bytes(uint64_t count, std::string_view what) {
  constexpr uint64_t kFirst = 1 << 16;
  if (auto left = remaining(); left && *left < count)
    fail("expected " + std::to_string(count) + " bytes of " + std::string(what) + ", got " +
         std::to_string(*left));
  ByteVector bytes;
  while (bytes.size() < count) {
    uint64_t have = bytes.size();
    uint64_t step = remaining() ? count : std::min(count - have, std::max(kFirst, have));
    bytes.resize(have + step);
    read_exactly(std::span(bytes).subspan(have), what);
  }
  return bytes;
}

void ByteSource::skip(uint64_t count, std::string_view what) {
  std::byte buffer[4096];
  while (count > 0) {
    size_t step = static_cast<size_t>(std::min<uint64_t>(count, sizeof buffer));
    read_exactly(std::span(buffer, step), what);
    count -= step;
  }
}

ByteVector ByteSource::read_all(uint64_t limit) {
  constexpr size_t kStep = 1 << 16;
  auto check = [&](uint64_t bytes) {
    if (bytes > limit) fail("the data has more than " + std::to_string(limit) + " bytes");
  };
  ByteVector bytes;
  if (auto left = remaining()) {
    check(*left);
    bytes.resize(*left);
    bytes.resize(read(bytes));
  }
  for (;;) {
    size_t have = bytes.size();
    bytes.resize(have + std::max(kStep, remaining() ? 0 : have / 2));
    size_t got = read(std::span(bytes).subspan(have));
    bytes.resize(have + got);
    check(bytes.size());
    if (got == 0) return bytes;
  }
}

size_t MemorySource::read(std::span<std::byte> out) {
  size_t count = std::min<size_t>(out.size(), bytes_.size() - position_);
  if (count) std::memcpy(out.data(), bytes_.data() + position_, count);
  position_ += count;
  return count;
}

}  // namespace kaiseki
