// SPDX-License-Identifier: MIT
// Raw deflate (RFC 1951) and CRC-32, as zip archives use them, through zlib.
#pragma once

#include <string>

#include "base/bytes.h"

namespace kaiseki::nn {

/// The content, which has exactly `size` bytes. Memory grows only with the bytes that exist. Throws
/// ParseError.
ByteVector inflate_raw(ByteView packed, uint64_t size, const std::string& source);
ByteVector deflate_raw(ByteView bytes);
uint32_t crc32_of(ByteView bytes);

}  // namespace kaiseki::nn
