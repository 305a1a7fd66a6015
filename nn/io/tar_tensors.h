// SPDX-License-Identifier: MIT
// Tensors as a tar of raw little-endian float32. The first file, "index.json", is
// {"name": {"dtype": "F32", "shape": [...]}, ...}, with "__metadata__" as in safetensors. The files
// "name.f32" follow, in the same order.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

/// Reads all tensors, on the CPU, in the order of the index. The tar is plain or compressed with
/// gzip. Throws ParseError with the tensor's name.
std::vector<NamedTensor> read_tar_tensors(const std::filesystem::path& path,
                                          Metadata* metadata = nullptr);
std::vector<NamedTensor> read_tar_tensors(ByteView bytes, Metadata* metadata = nullptr);

/// Writes f32 tensors only. Replaces the file in one step (write_file_atomic).
void write_tar_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata = {});
ByteVector encode_tar_tensors(std::span<const NamedTensor> tensors, const Metadata& metadata = {});

}  // namespace kaiseki::nn
