// SPDX-License-Identifier: MIT
#include "dist/wire/delta.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/error.h"

namespace kaiseki::dist {
namespace {

constexpr std::string_view kMagic = "KKD1";
constexpr size_t kWordBytes = 2, kBlock = 256;  // words that share a Rice parameter
constexpr int kParameterBits = 4, kWordBits = 16;
constexpr uint32_t kMostOnes = 20;  // then the word follows as it is

uint16_t word(ByteView bytes, size_t index) {
  uint16_t value;
  std::memcpy(&value, bytes.data() + kWordBytes * index, sizeof value);
  return value;
}

/// Maps the bits of a binary16 to an integer of the same order, and back.
uint16_t in_order(uint16_t half) {
  return static_cast<uint16_t>(half & 0x8000 ? ~half : half | 0x8000);
}
uint16_t from_order(uint16_t place) {
  return static_cast<uint16_t>(place & 0x8000 ? place & 0x7fff : ~place);
}

/// Small differences of either sign are small numbers: 0, -1, 1, -2, 2, ...
uint16_t difference(uint16_t from, uint16_t to) {
  const auto d = static_cast<uint16_t>(to - from);
  return static_cast<uint16_t>(d << 1 ^ (d & 0x8000 ? 0xffff : 0));
}
uint16_t moved(uint16_t from, uint16_t by) {
  const auto d = static_cast<uint16_t>(by >> 1 ^ (by & 1 ? 0xffff : 0));
  return static_cast<uint16_t>(from + d);
}

class BitWriter {
 public:
  explicit BitWriter(ByteVector& bytes) : bytes_(bytes) {}
  ~BitWriter() {
    if (count_ > 0) bytes_.push_back(static_cast<std::byte>(held_));
  }
  BitWriter(const BitWriter&) = delete;

  void put(uint32_t value, int bits) {
    held_ |= uint64_t{value} << count_;
    for (count_ += bits; count_ >= 8; count_ -= 8, held_ >>= 8)
      bytes_.push_back(static_cast<std::byte>(held_));
  }

 private:
  ByteVector& bytes_;
  uint64_t held_ = 0;
  int count_ = 0;
};

class BitReader {
 public:
  explicit BitReader(ByteView bytes) : bytes_(bytes) {}

  uint32_t take(int bits) {
    for (; count_ < bits; count_ += 8) {
      if (at_ == bytes_.size()) fail("expected more bytes, got the end");
      held_ |= uint64_t{static_cast<uint8_t>(bytes_[at_++])} << count_;
    }
    const auto value = static_cast<uint32_t>(held_ & ((uint64_t{1} << bits) - 1));
    held_ >>= bits;
    count_ -= bits;
    return value;
  }

  void expect_end() const {
    if (at_ != bytes_.size() || held_ != 0) fail("bits follow the end");
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw ParseError("delta", "byte " + std::to_string(at_ + kMagic.size()), what);
  }

  ByteView bytes_;
  size_t at_ = 0;
  uint64_t held_ = 0;
  int count_ = 0;
};

/// The Rice parameter with the fewest bits.
int best_parameter(std::span<const uint16_t> values) {
  int best = 0;
  uint64_t least = UINT64_MAX;
  for (int k = 0; k < kWordBits; ++k) {
    uint64_t bits = values.size() * static_cast<size_t>(k + 1);
    for (const uint16_t value : values)
      bits += std::min<uint32_t>(value >> k, kMostOnes + kWordBits);
    if (bits < least) least = bits, best = k;
  }
  return best;
}

}  // namespace

std::optional<ByteVector> encode_delta(ByteView base, ByteView message) {
  if (base.size() != message.size() || message.size() % kWordBytes != 0) return std::nullopt;
  const ByteView magic = as_bytes(kMagic);
  ByteVector delta(magic.begin(), magic.end());
  {
    BitWriter out(delta);
    std::array<uint16_t, kBlock> values;
    const size_t words = message.size() / kWordBytes;
    for (size_t first = 0; first < words; first += kBlock) {
      const size_t count = std::min(kBlock, words - first);
      for (size_t i = 0; i < count; ++i)
        values[i] = difference(in_order(word(base, first + i)), in_order(word(message, first + i)));
      const std::span<const uint16_t> block(values.data(), count);
      const int k = best_parameter(block);
      out.put(static_cast<uint32_t>(k), kParameterBits);
      for (const uint16_t value : block) {
        const uint32_t ones = std::min<uint32_t>(value >> k, kMostOnes);
        out.put((1u << ones) - 1, static_cast<int>(ones));
        if (ones == kMostOnes) {
          out.put(value, kWordBits);
        } else {
          out.put(0, 1);
          out.put(value & ((1u << k) - 1), k);
        }
      }
    }
  }
  if (delta.size() > message.size() / 8 * 7) return std::nullopt;
  return delta;
}

ByteVector apply_delta(ByteView base, ByteView delta) {
  if (as_text(delta).substr(0, kMagic.size()) != kMagic)
    throw ParseError("delta", "byte 0", "the mark KKD1 is missing");
  if (base.size() % kWordBytes != 0)
    throw ParseError("delta", "its base", "expected an even number of bytes");
  BitReader in(delta.subspan(kMagic.size()));
  ByteVector message(base.size());
  const size_t words = base.size() / kWordBytes;
  int k = 0;
  for (size_t i = 0; i < words; ++i) {
    if (i % kBlock == 0) k = static_cast<int>(in.take(kParameterBits));
    uint32_t ones = 0;
    while (ones < kMostOnes && in.take(1) == 1) ++ones;
    const uint32_t value = ones == kMostOnes ? in.take(kWordBits) : ones << k | in.take(k);
    const uint16_t found = from_order(moved(in_order(word(base, i)), static_cast<uint16_t>(value)));
    std::memcpy(message.data() + kWordBytes * i, &found, sizeof found);
  }
  in.expect_end();
  return message;
}

}  // namespace kaiseki::dist
