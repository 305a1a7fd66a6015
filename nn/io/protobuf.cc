// SPDX-License-Identifier: MIT
#include "nn/io/protobuf.h"

#include <bit>
#include <cstring>

#include "base/error.h"

namespace kaiseki::nn {
namespace {

constexpr int kLongestVarint = 10;
constexpr uint64_t kLargestField = (uint64_t{1} << 29) - 1;

float float_at(const std::byte* from) { return std::bit_cast<float>(load_le<uint32_t>(from)); }

}  // namespace

void ProtoReader::fail(uint64_t position, const std::string& what) const {
  throw ParseError(source_, "byte " + std::to_string(position), what);
}

void ProtoReader::expect(const ProtoField& field, ProtoField::Encoding wire,
                         std::string_view what) const {
  if (field.wire != wire)
    fail(field.position, "expected " + std::string(what) + " in field " +
                             std::to_string(field.number) + ", got wire type " +
                             std::to_string(static_cast<int>(field.wire)));
}

ByteView ProtoReader::take(uint64_t count, std::string_view what) {
  if (count > left_.size())
    fail(position_, "expected " + std::to_string(count) + " bytes of " + std::string(what) +
                        ", got " + std::to_string(left_.size()));
  const ByteView taken = left_.first(count);
  left_ = left_.subspan(count);
  position_ += count;
  return taken;
}

uint64_t ProtoReader::varint() {
  uint64_t value = 0;
  for (int i = 0; i < kLongestVarint; ++i) {
    const auto byte = std::to_integer<uint64_t>(take(1, "a number")[0]);
    value |= (byte & 127) << (7 * i);
    if (byte < 128) return value;
  }
  fail(position_, "a number has more than 10 bytes");
}

bool ProtoReader::next(ProtoField& field) {
  if (left_.empty()) return false;
  const uint64_t key = varint(), wire = key & 7;
  if (key >> 3 < 1 || key >> 3 > kLargestField)
    fail(position_, "the file is not ONNX (protobuf), or damaged: the field number is " +
                        std::to_string(key >> 3));
  field = {.number = static_cast<uint32_t>(key >> 3),
           .wire = static_cast<ProtoField::Encoding>(wire)};
  switch (field.wire) {
    case ProtoField::Encoding::varint:
      field.value = varint();
      break;
    case ProtoField::Encoding::fixed64:
      field.value = load_le<uint64_t>(take(8, "a number").data());
      break;
    case ProtoField::Encoding::fixed32:
      field.value = load_le<uint32_t>(take(4, "a number").data());
      break;
    case ProtoField::Encoding::bytes: {
      const uint64_t length = varint();
      field.position = position_;
      field.bytes = take(length, "field " + std::to_string(field.number));
      return true;
    }
    default:
      fail(position_, "expected wire type 0, 1, 2 or 5, got " + std::to_string(wire));
  }
  field.position = position_;
  return true;
}

int64_t ProtoReader::integer(const ProtoField& field) const {
  expect(field, ProtoField::Encoding::varint, "an integer");
  return static_cast<int64_t>(field.value);
}

float ProtoReader::number(const ProtoField& field) const {
  expect(field, ProtoField::Encoding::fixed32, "a float");
  return std::bit_cast<float>(static_cast<uint32_t>(field.value));
}

ByteView ProtoReader::bytes(const ProtoField& field) const {
  expect(field, ProtoField::Encoding::bytes, "bytes");
  return field.bytes;
}

std::string_view ProtoReader::text(const ProtoField& field) const { return as_text(bytes(field)); }

ProtoReader ProtoReader::message(const ProtoField& field) const {
  return {bytes(field), source_, field.position};
}

void ProtoReader::append(const ProtoField& field, std::vector<int64_t>& to) const {
  if (field.wire != ProtoField::Encoding::bytes) {
    to.push_back(integer(field));
    return;
  }
  ProtoReader packed = message(field);
  while (!packed.left_.empty()) to.push_back(static_cast<int64_t>(packed.varint()));
}

void ProtoReader::append(const ProtoField& field, std::vector<float>& to) const {
  if (field.wire != ProtoField::Encoding::bytes) {
    to.push_back(number(field));
    return;
  }
  const ByteView packed = field.bytes;
  if (packed.size() % sizeof(float) != 0)
    fail(field.position, "expected whole floats in field " + std::to_string(field.number) +
                             ", got " + std::to_string(packed.size()) + " bytes");
  for (size_t i = 0; i < packed.size(); i += sizeof(float))
    to.push_back(float_at(packed.data() + i));
}

void ProtoWriter::append(std::string_view bytes) {
  if (chunks_.empty() || !chunks_.back().borrowed.empty()) chunks_.emplace_back();
  chunks_.back().owned += bytes;
  size_ += bytes.size();
}

void ProtoWriter::varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(128 | (value & 127));
  append(bytes += static_cast<char>(value));
}

void ProtoWriter::tag(uint32_t number, ProtoField::Encoding wire) {
  varint(uint64_t{number} << 3 | static_cast<uint64_t>(wire));
}

ProtoWriter& ProtoWriter::integer(uint32_t number, int64_t value) {
  tag(number, ProtoField::Encoding::varint);
  varint(static_cast<uint64_t>(value));
  return *this;
}

ProtoWriter& ProtoWriter::number(uint32_t number, float value) {
  tag(number, ProtoField::Encoding::fixed32);
  std::byte bytes[sizeof value];
  store_le(std::bit_cast<uint32_t>(value), bytes);
  append(as_text(bytes));
  return *this;
}

ProtoWriter& ProtoWriter::text(uint32_t number, std::string_view value) {
  tag(number, ProtoField::Encoding::bytes);
  varint(value.size());
  append(value);
  return *this;
}

ProtoWriter& ProtoWriter::bytes(uint32_t number, ByteView value) {
  tag(number, ProtoField::Encoding::bytes);
  varint(value.size());
  if (value.empty()) return *this;
  chunks_.push_back({"", value});
  size_ += value.size();
  return *this;
}

ProtoWriter& ProtoWriter::message(uint32_t number, ProtoWriter value) {
  tag(number, ProtoField::Encoding::bytes);
  varint(value.size());
  for (Chunk& chunk : value.chunks_) {
    if (chunk.borrowed.empty()) {
      append(chunk.owned);
    } else {
      size_ += chunk.borrowed.size();
      chunks_.push_back(std::move(chunk));
    }
  }
  return *this;
}

std::vector<ByteView> ProtoWriter::parts() const {
  std::vector<ByteView> views;
  for (const Chunk& chunk : chunks_)
    views.push_back(chunk.borrowed.empty() ? as_bytes(chunk.owned) : chunk.borrowed);
  return views;
}

ByteVector ProtoWriter::encode() const {
  ByteVector bytes;
  bytes.reserve(size_);
  for (ByteView chunk : parts()) bytes.insert(bytes.end(), chunk.begin(), chunk.end());
  return bytes;
}

}  // namespace kaiseki::nn
