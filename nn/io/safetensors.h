// SPDX-License-Identifier: MIT
// safetensors: eight bytes of header length, a JSON header, then the tensors' bytes
// (https://huggingface.co/docs/safetensors). Types F32, I32, U8 and BOOL.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "nn/io/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

/// All tensors, on the CPU, in the order in which their bytes lie. The header's text must describe
/// every byte of the file exactly once. Throws ParseError naming the tensor.
std::vector<NamedTensor> read_safetensors(const std::filesystem::path& path,
                                          Metadata* metadata = nullptr);
std::vector<NamedTensor> read_safetensors(ByteSource& source, Metadata* metadata = nullptr);
std::vector<NamedTensor> read_safetensors(ByteView bytes, Metadata* metadata = nullptr);

/// Replaces the file in one step (write_file_atomic). Throws Error on a name used twice or a full
/// disk.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata = {});
ByteVector encode_safetensors(std::span<const NamedTensor> tensors, const Metadata& metadata = {});

}  // namespace kaiseki::nn
