// SPDX-License-Identifier: MIT
// ONNX files: a network and its weights, from and for other frameworks (docs/onnx.md).
#pragma once

#include <filesystem>

#include "nn/io/bytes.h"
#include "nn/network_spec.h"

namespace kaiseki::nn {

/// Told from JSON by the first byte, or by the name.
bool is_onnx(ByteView bytes, std::string_view source);

/// The graph as layers, with its initializers as their weights, and its metadata. Operator sets 7
/// to 17. Throws ParseError naming file, node, operator, attribute, what was expected and found.
NetworkSpec read_onnx(ByteView bytes, std::string_view source);

/// The network in the test phase with its weights, operator set 13; the same network gives the same
/// bytes. Throws Error naming a layer for which ONNX has no operator.
ByteVector encode_onnx(Network& network, const Metadata& metadata = {});
/// Throws what encode_onnx() would throw, and encodes nothing.
void expect_onnx(Network& network);
/// The same into a file, replaced in one step (write_file_atomic).
void write_onnx(const std::filesystem::path& file, Network& network, const Metadata& metadata = {});

}  // namespace kaiseki::nn
