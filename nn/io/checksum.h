// SPDX-License-Identifier: MIT
// The SHA-256 in the JSON header of a file of tensors. It finds damage that no length or name
// shows. Its key in the metadata is "kaiseki_sha256". The hash is of the header and of the parts
// that follow. In the header, zeros take the place of the checksum's digits.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

/// Adds the checksum to the metadata, as zeros.
Metadata with_checksum(Metadata metadata);
/// Replaces these zeros in the header by the SHA-256 of the header and the parts.
void write_checksum(std::string& header, std::span<const ByteView> parts);
/// Removes the checksum from the metadata. Throws ParseError if it is not that of the header and
/// the parts. Does nothing if there is none.
void check_checksum(std::string_view header, std::span<const ByteView> parts, Metadata& metadata,
                    std::string_view source);

}  // namespace kaiseki::nn
