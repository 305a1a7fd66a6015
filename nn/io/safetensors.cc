// SPDX-License-Identifier: MIT
#include "nn/io/safetensors.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/file.h"
#include "matrix/ceil_div.h"
#include "matrix/memory/idle_tensors.h"
#include "nn/io/checksum.h"
#include "nn/io/tensor_bytes.h"
#include "nn/io/tensor_list.h"

namespace kaiseki::nn {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the format's library
constexpr uint64_t kMaxFile = uint64_t{1} << 36;

/// The header, with its length before it.
std::string encode_header(std::span<const NamedTensor> tensors, const Metadata& metadata) {
  std::vector<ListedTensor> list;
  uint64_t end = 0;
  for (const NamedTensor& tensor : tensors) {
    const uint64_t begin = end;
    end += tensor.value.bytes();
    list.push_back({tensor.name, tensor.value.dtype(), tensor.value.shape(), begin, end});
  }
  std::string header = format_tensor_list(list, true, with_checksum(metadata));
  header.resize(round_up(header.size(), 8), ' ');
  ChecksumWriter checksum(header);
  for (const NamedTensor& tensor : tensors) checksum.add(bytes_of(for_file(tensor.value)));
  checksum.finish();
  std::string length(8, 0);
  store_le<uint64_t>(header.size(), reinterpret_cast<std::byte*>(length.data()));
  return length + header;
}

/// Calls append() for each part of the file. Tensors of the CPU need not be in memory together.
template <class Append>
void encode(std::span<const NamedTensor> tensors, const Metadata& metadata, const Append& append) {
  IdleTensors idle(Device::cpu());
  for (const NamedTensor& tensor : tensors) idle.add(tensor.value);
  append(as_bytes(encode_header(tensors, metadata)));
  for (const NamedTensor& tensor : tensors) append(bytes_of(for_file(tensor.value)));
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
  ChecksumCheck checksum(as_text(text), found, source.name());
  IdleTensors idle(Device::cpu());
  std::vector<NamedTensor> tensors;
  for (const ListedTensor& t : list) {
    tensors.push_back({t.name, read_elements(source, t.shape, t.dtype)});
    checksum.add(bytes_of(tensors.back().value));
    idle.add(tensors.back().value);
  }
  checksum.finish();
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
  write_file_atomic(path, [&](const auto& append) { encode(tensors, metadata, append); });
}

ByteVector encode_safetensors(std::span<const NamedTensor> tensors, const Metadata& metadata) {
  uint64_t size = 0;
  for (const NamedTensor& tensor : tensors) size += tensor.value.bytes();
  ByteVector bytes;
  encode(tensors, metadata, [&](ByteView part) {
    if (bytes.empty()) bytes.reserve(part.size() + size);
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  return bytes;
}

}  // namespace kaiseki::nn
