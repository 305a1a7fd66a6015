// SPDX-License-Identifier: MIT
// Export of linear models and trees as ONNX with the operators of ai.onnx.ml.
#pragma once

#include <filesystem>

#include "base/bytes.h"
#include "ml/model/file.h"

namespace kaiseki::ml {

/// The graph has the input X, f32 [N, features]. A classifier has the outputs label, i64 or texts
/// [N], and scores, f32 [N, classes]. The scores of LogisticRegression, trees and forests are
/// probabilities. Other scores are the decision function. For two classes, the decision function of
/// the first class is the negative one of the second. A regressor has the output y, f32 [N,
/// outputs]. A scaler is part of the graph. Throws Error for other models, and if columns of a
/// table have texts.
ByteVector encode_onnx(const SavedModel& saved);

/// Replaces the file in one step.
void write_onnx(const std::filesystem::path& path, const SavedModel& saved);

}  // namespace kaiseki::ml
