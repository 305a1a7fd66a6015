// SPDX-License-Identifier: MIT
// Streams of bytes from a file, memory or a decompressor, read from front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaiseki {

using ByteView = std::span<const std::byte>;
using ByteVector = std::vector<std::byte>;

inline ByteView as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A stream of bytes. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` and returns the number of bytes. It is less than out.size() at the end only.
  virtual size_t read(std::span<std::byte> out) = 0;
  /// The number of bytes to the end, if it is known without reading.
  virtual std::optional<uint64_t> remaining() const { return std::nullopt; }

  /// The file's name and the number of bytes read so far, for messages.
  const std::string& name() const { return name_; }
  uint64_t position() const { return position_; }
  /// "byte 16"
  std::string place() const { return "byte " + std::to_string(position_); }

  /// Fills `out`. Throws ParseError "expected `what`, got the end of the file" if there are too few
  /// bytes.
  void read_exactly(std::span<std::byte> out, std::string_view what);
  /// Returns the next `count` bytes. If `count` is wrong, memory grows only with the bytes that
  /// exist.
  ByteVector read_bytes(uint64_t count, std::string_view what);
  /// Skips bytes. Throws ParseError if the source ends early.
  virtual void skip(uint64_t count, std::string_view what);
  /// Returns all bytes to the end. Throws ParseError if there are more than `limit` bytes.
  ByteVector read_all(uint64_t limit);
  /// Throws ParseError with the position.
  [[noreturn]] void fail(std::string_view what) const;

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  uint64_t position_ = 0;

 private:
  std::string name_;
};

/// Bytes in memory. They must live as long as this.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(ByteView bytes, std::string name = "memory")
      : ByteSource(std::move(name)), bytes_(bytes) {}
  size_t read(std::span<std::byte> out) override;
  std::optional<uint64_t> remaining() const override { return bytes_.size() - position_; }

 private:
  ByteView bytes_;
};

/// Unaligned loads and stores of little-endian and big-endian numbers.
template <typename T>
T load_le(const std::byte* from) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>(value << (sizeof(T) > 1 ? 8 : 0)) | static_cast<T>(from[i]);
  return value;
}
template <typename T>
T load_be(const std::byte* from) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value << (sizeof(T) > 1 ? 8 : 0)) | static_cast<T>(from[i]);
  return value;
}
template <typename T>
void store_le(T value, std::byte* to) {
  for (size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace kaiseki
