// SPDX-License-Identifier: MIT
// The wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding): messages
// of numbered fields, read without copying and written in pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nn/io/bytes.h"

namespace kaiseki::nn {

/// One field of a message. What it means is up to who knows its number.
struct ProtoField {
  enum class Wire : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  uint32_t number = 0;
  Wire wire = Wire::varint;
  uint64_t value = 0;     // of varint, fixed64 and fixed32
  ByteView bytes = {};    // of bytes: a text, a message or packed numbers
  uint64_t position = 0;  // in the file, of the first byte of `bytes` or after the value
};

/// Reads a message front to back. All throw ParseError "byte N" on fields that end beyond the
/// message, groups, and values of another kind than asked for.
class ProtoReader {
 public:
  /// The bytes and the name stay the caller's; `position` is where the message lies in the file.
  ProtoReader(ByteView message, std::string_view source, uint64_t position = 0)
      : left_(message), source_(source), position_(position) {}

  /// The next field, or false at the end.
  bool next(ProtoField& field);

  int64_t integer(const ProtoField& field) const;
  float number(const ProtoField& field) const;
  std::string_view text(const ProtoField& field) const;
  ByteView bytes(const ProtoField& field) const;
  ProtoReader message(const ProtoField& field) const;
  /// One value, or as many as are packed into one field.
  void append(const ProtoField& field, std::vector<int64_t>& to) const;
  void append(const ProtoField& field, std::vector<float>& to) const;

 private:
  [[noreturn]] void fail(uint64_t position, const std::string& what) const;
  void expect(const ProtoField& field, ProtoField::Wire wire, std::string_view what) const;
  uint64_t varint();
  ByteView take(uint64_t count, std::string_view what);

  ByteView left_;
  std::string_view source_;
  uint64_t position_;
};

/// Builds a message. Fields stand in the order of the calls: the same calls give the same bytes.
class ProtoWriter {
 public:
  ProtoWriter& integer(uint32_t number, int64_t value);
  ProtoWriter& number(uint32_t number, float value);
  ProtoWriter& text(uint32_t number, std::string_view value);
  ProtoWriter& message(uint32_t number, ProtoWriter value);
  /// Bytes that are not copied: they stay where they are until the message is written.
  ProtoWriter& bytes(uint32_t number, ByteView value);

  uint64_t size() const { return size_; }
  /// The message's bytes in pieces, which last as long as this.
  std::vector<ByteView> parts() const;
  ByteVector encode() const;

 private:
  struct Part {
    std::string own;
    ByteView lent;
  };
  void tag(uint32_t number, ProtoField::Wire wire);
  void varint(uint64_t value);
  void append(std::string_view bytes);

  std::vector<Part> parts_;
  uint64_t size_ = 0;
};

}  // namespace kaiseki::nn
