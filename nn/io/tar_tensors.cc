// SPDX-License-Identifier: MIT
#include "nn/io/tar_tensors.h"

#include <array>

#include "base/error.h"
#include "base/file.h"
#include "nn/io/gzip.h"
#include "nn/io/tar.h"
#include "nn/io/tensor_bytes.h"
#include "nn/io/tensor_list.h"

namespace kaiseki::nn {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 36, kMaxIndex = 100'000'000;
constexpr std::string_view kIndex = "index.json", kSuffix = ".f32";
constexpr std::array<std::byte, 1024> kZeros{};

/// Headers, contents and padding, in the order of the file.
struct EncodedTar {
  std::vector<ByteVector> headers;
  std::vector<Tensor> values;
  std::vector<ByteView> parts;
};

EncodedTar encode(std::span<const NamedTensor> tensors, const Metadata& metadata) {
  EncodedTar result;
  result.headers.reserve(tensors.size() + 1);
  std::vector<ListedTensor> list;
  for (const NamedTensor& tensor : tensors) {
    if (tensor.value.dtype() != DType::f32)
      throw Error(message("write_tar_tensors", "expected f32, got ",
                          dtype_name(tensor.value.dtype()), " for \"", tensor.name, "\""));
    result.values.push_back(for_file(tensor.value));
    list.push_back({tensor.name, DType::f32, tensor.value.shape()});
  }
  append_tar_file(result.headers.emplace_back(), kIndex,
                  as_bytes(format_tensor_list(list, false, metadata)));
  result.parts.push_back(result.headers.back());
  for (size_t i = 0; i < list.size(); ++i) {
    ByteView bytes = bytes_of(result.values[i]);
    result.headers.push_back(tar_header(list[i].name + std::string(kSuffix), bytes.size()));
    result.parts.push_back(result.headers.back());
    result.parts.push_back(bytes);
    result.parts.push_back(ByteView(kZeros).first(tar_padding(bytes.size())));
  }
  result.parts.push_back(kZeros);
  return result;
}

std::vector<NamedTensor> read(ByteSource& source, Metadata* metadata) {
  TarReader tar(source);
  TarEntry entry;
  bool more = tar.next(entry);
  if (!more || entry.path != kIndex)
    source.fail("expected index.json as the first file, got \"" + entry.path.substr(0, 80) + "\"");
  ByteVector text = tar.read(kMaxIndex);
  auto list = parse_tensor_list(as_text(text), source.name() + " (index.json)", false, metadata);
  std::vector<NamedTensor> tensors;
  for (const ListedTensor& t : list) {
    std::string path = t.name + std::string(kSuffix);
    if (t.dtype != DType::f32) source.fail("expected dtype F32 for \"" + t.name + "\"");
    if (!tar.next(entry) || entry.path != path)
      source.fail("expected \"" + path + "\", got \"" + entry.path.substr(0, 80) + "\"");
    if (entry.bytes != t.bytes())
      source.fail("expected " + std::to_string(t.bytes()) + " bytes for shape " + t.shape.str() +
                  " of \"" + t.name + "\", got " + std::to_string(entry.bytes));
    ByteVector data = tar.read(kMaxFile);
    MemorySource elements(data, source.name());
    tensors.push_back({t.name, read_elements(elements, t.shape, t.dtype)});
  }
  if (tar.next(entry))
    source.fail("expected no more files, got \"" + entry.path.substr(0, 80) + "\"");
  return tensors;
}

}  // namespace

std::vector<NamedTensor> read_tar_tensors(const std::filesystem::path& path, Metadata* metadata) {
  return read(*open_maybe_gzip(path, kMaxFile), metadata);
}

std::vector<NamedTensor> read_tar_tensors(ByteView bytes, Metadata* metadata) {
  return read(*maybe_gzip(std::make_unique<MemorySource>(bytes), kMaxFile), metadata);
}

void write_tar_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata) {
  write_file_atomic(path, encode(tensors, metadata).parts);
}

ByteVector encode_tar_tensors(std::span<const NamedTensor> tensors, const Metadata& metadata) {
  ByteVector bytes;
  EncodedTar encoded = encode(tensors, metadata);
  for (ByteView part : encoded.parts) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

}  // namespace kaiseki::nn
