// SPDX-License-Identifier: MIT
// Tensors as a tar of raw little-endian float32. The first file, "index.json", is
// {"name": {"dtype": "F32", "shape": [...], "sha256": "..."}, ...}, with "__metadata__" as in
// safetensors. The files "name.f32" follow, in the same order.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

/// Reads all tensors, on the CPU, in the order of the index. The tar is plain or compressed with
/// gzip. Throws ParseError with the tensor's name, also if its values do not have its sha256. Files
/// of other programs may have no sha256. `source` is the file's name for messages.
std::vector<NamedTensor> read_tar_tensors(ByteView bytes, Metadata* metadata = nullptr,
                                          const std::string& source = "memory");

/// Writes f32 tensors only, with the SHA-256 of each tensor and of the index. Replaces the file in
/// one step (write_file_atomic).
void write_tar_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata = {});
ByteVector encode_tar_tensors(std::span<const NamedTensor> tensors, const Metadata& metadata = {});

}  // namespace kaiseki::nn
