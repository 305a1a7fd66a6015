// SPDX-License-Identifier: MIT
// The data of fit and apply: samples and targets from .npy and CSV files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "matrix/tensor.h"
#include "ml/model/model.h"
#include "ml/table/table.h"

namespace kaiseki::cli {

/// A matrix, or the table of a CSV file.
struct LearnData {
  Tensor matrix;  // f32 [n, features], on the CPU; undefined: there is a table
  std::optional<ml::DataTable> table;
  std::string target;  // the name of its column; empty: the target is elsewhere

  int64_t rows() const { return table ? table->rows() : matrix.dim(0); }
};

/// Reads .npy and .csv files. Throws Error with the option's name.
LearnData read_data(const std::string& file, const ml::TableForm& form = {});

/// The name of a label, or the label itself if it has none, such as that of outliers.
std::string label_name(const std::vector<std::string>& names, int32_t label);

/// The targets of all rows.
struct LearnTarget {
  Tensor values;                         // i32 [n] or f32 [n], on the CPU
  std::vector<std::string> class_names;  // of the labels 0, 1, ...; empty: labels are integers
};

/// `where`: a column of the table, or a .npy or .csv file. Sets data.target for a column. `names`:
/// the classes of a model that was fitted before. Throws Error with the option's name.
LearnTarget read_target(const std::string& where, ml::LearningTask task, LearnData& data,
                        const std::vector<std::string>* names = nullptr);

}  // namespace kaiseki::cli
