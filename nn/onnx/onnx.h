// SPDX-License-Identifier: MIT
// Import and export of ONNX files, with networks and their weights (docs/onnx.md).
#pragma once

#include <filesystem>

#include "base/bytes.h"
#include "nn/network_spec.h"

namespace kaiseki::nn {

class Network;

/// Returns whether the first byte or the file's name is that of an ONNX file.
bool is_onnx(ByteView bytes, std::string_view source);

/// Reads the graph as layers, the initializers as their weights, and the metadata. Accepts operator
/// sets 7 to 17. Throws ParseError with file, node, operator, attribute, and the expected and
/// actual value.
NetworkSpec read_onnx(ByteView bytes, std::string_view source);

/// Encodes the test phase of the network with its weights, operator set 13. The same network gives
/// the same bytes. Throws Error with the layer's name if ONNX has no operator for it.
ByteVector encode_onnx(Network& network, const Metadata& metadata = {});
/// Throws the errors of encode_onnx(), but does not encode.
void expect_onnx(Network& network);
/// Writes the bytes of encode_onnx() into a file, in one step (write_file_atomic).
void write_onnx(const std::filesystem::path& file, Network& network, const Metadata& metadata = {});

}  // namespace kaiseki::nn
