// SPDX-License-Identifier: MIT
// Base64 (RFC 4648, the alphabet with + and /).
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kaiseki {

/// Encodes with padding, in one line.
std::string encode_base64(ByteView bytes);

/// Decodes with or without padding. Skips spaces and line breaks. Throws ParseError(source,
/// "character N", ...).
ByteVector decode_base64(std::string_view text, std::string_view source);

}  // namespace kaiseki
