// SPDX-License-Identifier: MIT
// Tensors as a tar of raw little-endian float32. The first file, "index.json", is
// {"name": {"dtype": "F32", "shape": [...]}, ...}, with "__metadata__" as in safetensors; then
// comes "name.f32" for each, in the same order.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "nn/io/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

/// All tensors, on the CPU, in the order of the index; plain or gzip-compressed. Throws ParseError
/// naming the tensor.
std::vector<NamedTensor> read_tar_tensors(const std::filesystem::path& path,
                                          Metadata* metadata = nullptr);
std::vector<NamedTensor> read_tar_tensors(ByteView bytes, Metadata* metadata = nullptr);

/// f32 tensors only. Replaces the file in one step (write_file_atomic).
void write_tar_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata = {});
ByteVector encode_tar_tensors(std::span<const NamedTensor> tensors, const Metadata& metadata = {});

}  // namespace kaiseki::nn
