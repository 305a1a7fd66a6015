// SPDX-License-Identifier: MIT
// Weights of a network in files: safetensors (default), Sukiyaki's JSON with Base64 (.json), tar of
// raw float32 (.tar), ONNX (.onnx, the network with them); the format follows from the file's name
// when saving, its content when loading.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "nn/io/bytes.h"
#include "nn/io/named_tensor.h"
#include "nn/network.h"

namespace kaiseki::nn {

/// What a load did with each tensor.
struct LoadReport {
  std::vector<std::string> matched;
  std::vector<std::string> missing;     // in the network, not in the file: left as they were
  std::vector<std::string> unexpected;  // in the file, not in the network
  struct Mismatch {
    std::string name;
    Shape expected, found;
  };
  std::vector<Mismatch> mismatched;  // same name, other shape: left as they were
  bool complete() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  /// A few lines for people.
  std::string str() const;
};

/// Parameters and states. Throws Error naming a parameter that is NaN or infinite.
std::vector<NamedTensor> weights_to_save(Network& network);
/// Throws Error where .safetensors, .tar and checkpoints have no words for names or metadata.
void expect_names(Network& network, const Metadata& metadata);
/// These, by temp + rename, with metadata, for which .json has no place; .onnx gets the network
/// too. Throws Error also for a
/// full disk, no permission, an unknown suffix.
void save_weights(const std::filesystem::path& file, Network& network,
                  const Metadata& metadata = {});
/// The bytes of such a file; `format` is safetensors, json or tar. Throws Error.
ByteVector encode_weights(std::string_view format, Network& network, const Metadata& metadata = {});

/// Throws ParseError for a damaged file; when `strict`, Error with the report unless it is
/// complete. `metadata` may be null.
LoadReport load_weights(const std::filesystem::path& file, Network& network, bool strict = true,
                        Metadata* metadata = nullptr);
/// The same of a file's bytes.
LoadReport load_weights(ByteView bytes, Network& network, bool strict = true,
                        Metadata* metadata = nullptr);

}  // namespace kaiseki::nn
