// SPDX-License-Identifier: MIT
// safetensors: eight bytes with the length of the header, a JSON header, then the tensors' bytes
// (https://huggingface.co/docs/safetensors). Types F32, F64, I32, U8 and BOOL.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

/// Reads all tensors, on the CPU, in the order of their bytes. The header must describe every byte
/// of the file exactly once. Throws ParseError with the tensor's name. Also throws it if the
/// metadata contain a checksum of write_safetensors() that does not match.
std::vector<NamedTensor> read_safetensors(const std::filesystem::path& path,
                                          Metadata* metadata = nullptr);
std::vector<NamedTensor> read_safetensors(ByteSource& source, Metadata* metadata = nullptr);
std::vector<NamedTensor> read_safetensors(ByteView bytes, Metadata* metadata = nullptr);

/// Replaces the file in one step (write_file_atomic). Adds a checksum of the whole file to the
/// metadata. read_safetensors() checks and removes it. Throws Error if a name occurs twice or the
/// file cannot be written.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata = {});
ByteVector encode_safetensors(std::span<const NamedTensor> tensors, const Metadata& metadata = {});

}  // namespace kaiseki::nn
