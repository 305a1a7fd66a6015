// SPDX-License-Identifier: MIT
// Files of models: safetensors, with a JSON text in the metadata "kaiseki.model".
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "ml/model/model.h"
#include "ml/preprocessing/standard_scaler.h"
#include "ml/table/encoder.h"

namespace kaiseki::ml {

/// A fitted model, with the steps that bring its data into form.
struct SavedModel {
  std::unique_ptr<Model> model;
  std::optional<TableEncoder> columns;   // from a table to x; none: x is a matrix
  std::optional<StandardScaler> scaler;  // from x to the x of the model
  std::vector<std::string> class_names;  // of the labels 0, 1, ...; empty: labels are integers
};

/// Replaces the file in one step, with a checksum of all its bytes. Throws Error.
void save_model(const std::filesystem::path& path, const SavedModel& saved);

/// Tensors are on the CPU. Throws ParseError for a file that is damaged or holds no model.
SavedModel load_model(const std::filesystem::path& path);

/// The same in memory. `place` names the bytes in errors.
ByteVector encode_model(const SavedModel& saved);
SavedModel decode_model(ByteView bytes, std::string_view place = "model");

}  // namespace kaiseki::ml
