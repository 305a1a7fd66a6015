// SPDX-License-Identifier: MIT
// NumPy's .npz: a zip archive (PKWARE APPNOTE 6.3) of npy files, stored or deflated. zip64,
// encryption and archives in several parts are not supported.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

/// Reads all arrays, in the order of the archive, on the CPU. Throws ParseError.
std::vector<NamedTensor> read_npz(const std::string& path);
std::vector<NamedTensor> read_npz(ByteView bytes, const std::string& source = "memory");

/// Writes the arrays, deflated if `compressed` is set. Replaces the file in one step. Throws Error
/// if a name is empty or occurs twice, or if the archive has 4 GiB or more.
void write_npz(const std::string& path, const std::vector<NamedTensor>& arrays,
               bool compressed = false);
/// The bytes that write_npz() writes.
ByteVector encode_npz(const std::vector<NamedTensor>& arrays, bool compressed = false);

}  // namespace kaiseki::nn
