// SPDX-License-Identifier: MIT
// Weights of a network in files. The formats are safetensors (default), Sukiyaki's JSON with Base64
// (.json), a tar of raw float32 (.tar), and ONNX (.onnx). An ONNX file also holds the network.
// Saving selects the format by the file's name, loading by its content. sukiyaki2's files are
// loaded too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "nn/io/named_tensor.h"
#include "nn/network.h"

namespace kaiseki::nn {

/// The result of a load for each tensor.
struct LoadReport {
  std::vector<std::string> matched;
  std::vector<std::string> missing;     // in the network, not in the file; they keep their values
  std::vector<std::string> unexpected;  // in the file, not in the network
  struct Mismatch {
    std::string name;
    Shape expected, found;
  };
  std::vector<Mismatch> mismatched;  // same name, but another shape; not changed
  bool complete() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  /// The report as a few lines of text.
  std::string str() const;
};

/// All parameters and states. Throws Error with the name of a parameter that is NaN or infinite.
std::vector<NamedTensor> weights_to_save(Network& network);
/// Throws Error if the names or the metadata cannot be stored in .safetensors, .tar or checkpoints.
void check_storable_names(Network& network, const Metadata& metadata);
/// Saves the weights in one step (write_file_atomic). The suffix selects the format. A .json file
/// has no metadata; an .onnx file has the network too. Throws Error also for a full disk, a missing
/// permission or an unknown suffix.
void save_weights(const std::string& file, Network& network, const Metadata& metadata = {});
/// Returns the bytes of such a file. `format` is safetensors, json or tar. Throws Error.
ByteVector encode_weights(std::string_view format, Network& network, const Metadata& metadata = {});

/// Throws ParseError if the file is damaged. If `strict` is set and the report is not complete,
/// throws Error with the report. `metadata` may be null.
LoadReport load_weights(const std::string& file, Network& network, bool strict = true,
                        Metadata* metadata = nullptr);
/// Loads from the bytes of a file.
LoadReport load_weights(ByteView bytes, Network& network, bool strict = true,
                        Metadata* metadata = nullptr);

}  // namespace kaiseki::nn
