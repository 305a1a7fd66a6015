// SPDX-License-Identifier: MIT
#include "nn/io/safetensors.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/file.h"
#include "nn/io/checksum.h"
#include "nn/io/tensor_bytes.h"
#include "nn/io/tensor_list.h"

namespace kaiseki::nn {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the format's library
constexpr uint64_t kMaxFile = uint64_t{1} << 36;

/// Header and tensors, in the order of the file.
struct EncodedSafetensors {
  std::string header;
  std::vector<Tensor> values;
  std::vector<ByteView> parts;
};

EncodedSafetensors encode(std::span<const NamedTensor> tensors, const Metadata& metadata) {
  EncodedSafetensors result;
  std::vector<ListedTensor> list;
  std::vector<ByteView> contents;
  uint64_t end = 0;
  for (const NamedTensor& tensor : tensors) {
    result.values.push_back(for_file(tensor.value));
    contents.push_back(bytes_of(result.values.back()));
    list.push_back(
        {tensor.name, tensor.value.dtype(), tensor.value.shape(), end, end + tensor.value.bytes()});
    end = list.back().end;
  }
  std::string header = format_tensor_list(list, true, with_checksum(metadata));
  header.resize((header.size() + 7) / 8 * 8, ' ');
  write_checksum(header, contents);
  result.header.resize(8);
  store_le<uint64_t>(header.size(), reinterpret_cast<std::byte*>(result.header.data()));
  result.header += header;
  result.parts.push_back(as_bytes(result.header));
  result.parts.insert(result.parts.end(), contents.begin(), contents.end());
  return result;
}

}  // namespace

std::vector<NamedTensor> read_safetensors(ByteSource& source, Metadata* metadata) {
  if (!source.remaining()) {
    ByteVector bytes = source.read_all(kMaxFile);
    MemorySource known(bytes, source.name());
    return read_safetensors(known, metadata);
  }
  std::byte length_bytes[8];
  source.read_exactly(length_bytes, "the length of a safetensors header");
  uint64_t length = load_le<uint64_t>(length_bytes);
  if (length > kMaxHeader || length > *source.remaining())
    source.fail("expected a safetensors header within the file, got a length of " +
                std::to_string(length) + " bytes");
  ByteVector text = source.read_bytes(length, "a safetensors header");
  Metadata found;
  auto list = parse_tensor_list(as_text(text), source.name(), true, &found);
  std::sort(list.begin(), list.end(), [](const ListedTensor& a, const ListedTensor& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t next = 0;
  for (const ListedTensor& t : list) {
    if (t.begin != next)
      throw ParseError(source.name(), "header: \"" + t.name + "\"",
                       "expected data_offsets from " + std::to_string(next) + ", got " +
                           std::to_string(t.begin));
    next = t.end;
  }
  if (next != *source.remaining())
    source.fail("expected " + std::to_string(next) + " bytes of tensors, got " +
                std::to_string(*source.remaining()));
  std::vector<NamedTensor> tensors;
  std::vector<ByteView> parts;
  for (const ListedTensor& t : list) {
    tensors.push_back({t.name, read_elements(source, t.shape, t.dtype)});
    parts.push_back(bytes_of(tensors.back().value));
  }
  check_checksum(as_text(text), parts, found, source.name());
  if (metadata) *metadata = std::move(found);
  return tensors;
}

std::vector<NamedTensor> read_safetensors(const std::filesystem::path& path, Metadata* metadata) {
  FileSource source(path);
  return read_safetensors(source, metadata);
}

std::vector<NamedTensor> read_safetensors(ByteView bytes, Metadata* metadata) {
  MemorySource source(bytes);
  return read_safetensors(source, metadata);
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata) {
  write_file_atomic(path, encode(tensors, metadata).parts);
}

ByteVector encode_safetensors(std::span<const NamedTensor> tensors, const Metadata& metadata) {
  ByteVector bytes;
  EncodedSafetensors encoded = encode(tensors, metadata);
  size_t size = 0;
  for (ByteView part : encoded.parts) size += part.size();
  bytes.reserve(size);
  for (ByteView part : encoded.parts) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

}  // namespace kaiseki::nn
