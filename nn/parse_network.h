// SPDX-License-Identifier: MIT
// Reads the spec of a network from a file's content.
#pragma once

#include <string_view>

#include "nn/network_spec.h"

namespace kaiseki::nn {

/// Reads our JSON, that of Sukiyaki and sukiyaki2, or ONNX. The content selects the format. Throws
/// ParseError.
NetworkSpec parse_network(std::string_view text, std::string_view source);
/// Whether the first character is { or [, after white space and a byte order mark.
bool begins_as_json(std::string_view text);

}  // namespace kaiseki::nn
