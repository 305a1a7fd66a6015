// SPDX-License-Identifier: MIT
// Base64 (RFC 4648, the alphabet with + and /).
#pragma once

#include <string>
#include <string_view>

#include "nn/io/bytes.h"

namespace kaiseki::nn {

/// With padding, in one line.
std::string encode_base64(ByteView bytes);

/// With or without padding; spaces and line breaks are passed over. Throws ParseError(source,
/// "character N", ...).
ByteVector decode_base64(std::string_view text, std::string_view source);

}  // namespace kaiseki::nn
