// SPDX-License-Identifier: MIT
#include "nn/io/tar_tensors.h"

#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "nn/io/checksum.h"
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
    ListedTensor& listed = list.emplace_back();
    listed.name = tensor.name;
    listed.shape = tensor.value.shape();
    listed.sha256 = sha256(bytes_of(result.values.back()));
  }
  std::string index = format_tensor_list(list, false, with_checksum(metadata));
  ChecksumWriter(index).finish();
  append_tar_file(result.headers.emplace_back(), kIndex, as_bytes(index));
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
  const ByteVector text = tar.read(kMaxIndex);
  const std::string index = source.name() + " (index.json)";
  Metadata found;
  auto list = parse_tensor_list(as_text(text), index, false, &found);
  ChecksumCheck(as_text(text), found, index).finish();
  std::vector<NamedTensor> tensors;
  for (const ListedTensor& t : list) {
    std::string path = t.name + std::string(kSuffix);
    if (t.dtype != DType::f32) source.fail("expected dtype F32 for \"" + t.name + "\"");
    if (!tar.next(entry) || entry.path != path)
      source.fail("expected \"" + path + "\", got \"" + entry.path.substr(0, 80) + "\"");
    if (entry.bytes != t.bytes())
      source.fail("expected " + std::to_string(t.bytes()) + " bytes for shape " + t.shape.str() +
                  " of \"" + t.name + "\", got " + std::to_string(entry.bytes));
    const ByteVector data = tar.read(kMaxFile);
    if (t.sha256 && sha256(data) != *t.sha256)
      throw ParseError(source.name(), "\"" + path.substr(0, 80) + "\"",
                       "the values do not have the SHA-256 in index.json: the file is damaged, or "
                       "another program changed it and kept sha256");
    MemorySource elements(data, source.name());
    tensors.push_back({t.name, read_elements(elements, t.shape, t.dtype)});
  }
  if (tar.next(entry))
    source.fail("expected no more files, got \"" + entry.path.substr(0, 80) + "\"");
  if (metadata) *metadata = std::move(found);
  return tensors;
}

}  // namespace

std::vector<NamedTensor> read_tar_tensors(ByteView bytes, Metadata* metadata,
                                          const std::string& source) {
  return read(*maybe_gzip(std::make_unique<MemorySource>(bytes, source), kMaxFile), metadata);
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
