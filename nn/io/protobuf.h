// SPDX-License-Identifier: MIT
// The wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding): messages
// of numbered fields. Reads without copying, writes in chunks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace kaiseki::nn {

/// One field of a message. The field number gives its meaning.
struct ProtoField {
  enum class Encoding : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  uint32_t number = 0;
  Encoding wire = Encoding::varint;
  uint64_t value = 0;     // of varint, fixed64 and fixed32
  ByteView bytes = {};    // of bytes: a text, a message or packed numbers
  uint64_t position = 0;  // in the file: first byte of `bytes`, or the byte after the value
};

/// Reads a message from front to back. All functions throw ParseError "byte N" for groups and
/// values of another type. They also throw it for fields that end beyond the message.
class ProtoReader {
 public:
  /// The bytes and the name must live as long as this. `position` is the message's position in the
  /// file.
  ProtoReader(ByteView message, std::string_view source, uint64_t position = 0)
      : left_(message), source_(source), position_(position) {}

  /// Reads the next field. Returns false at the end.
  bool next(ProtoField& field);

  int64_t integer(const ProtoField& field) const;
  float number(const ProtoField& field) const;
  std::string_view text(const ProtoField& field) const;
  ByteView bytes(const ProtoField& field) const;
  ProtoReader message(const ProtoField& field) const;
  /// Appends one value, or all values of a packed field.
  void append(const ProtoField& field, std::vector<int64_t>& to) const;
  void append(const ProtoField& field, std::vector<float>& to) const;

 private:
  [[noreturn]] void fail(uint64_t position, const std::string& what) const;
  void expect(const ProtoField& field, ProtoField::Encoding wire, std::string_view what) const;
  uint64_t varint();
  ByteView take(uint64_t count, std::string_view what);

  ByteView left_;
  std::string_view source_;
  uint64_t position_;
};

/// Builds a message. The fields are in the order of the calls.
class ProtoWriter {
 public:
  ProtoWriter& integer(uint32_t number, int64_t value);
  ProtoWriter& number(uint32_t number, float value);
  ProtoWriter& text(uint32_t number, std::string_view value);
  ProtoWriter& message(uint32_t number, ProtoWriter value);
  /// Adds bytes without copying. They must live until the message is written.
  ProtoWriter& bytes(uint32_t number, ByteView value);

  uint64_t size() const { return size_; }
  /// The message's bytes in chunks. They are valid as long as this.
  std::vector<ByteView> parts() const;
  ByteVector encode() const;

 private:
  struct Chunk {
    std::string owned;
    ByteView borrowed;
  };
  void tag(uint32_t number, ProtoField::Encoding wire);
  void varint(uint64_t value);
  void append(std::string_view bytes);

  std::vector<Chunk> chunks_;
  uint64_t size_ = 0;
};

}  // namespace kaiseki::nn
