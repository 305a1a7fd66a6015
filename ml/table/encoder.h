// SPDX-License-Identifier: MIT
// TableEncoder: makes samples x from the columns of a table, in the same way for each table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"
#include "ml/table/table.h"

namespace kaiseki::ml {

class Archive;

/// The treatment of cells without a value.
enum class Missing : uint8_t {
  refuse,  // an error
  mean,    // columns of numbers: their mean in fit(); columns of texts: a category of their own
};

/// A column of numbers is one feature. A column of texts is one feature for each text of fit(), in
/// the order of the texts. Its value is 1 for the row's text, else 0.
class TableEncoder {
 public:
  explicit TableEncoder(Missing missing = Missing::refuse) : missing_(missing) {}

  /// Learns the columns, without the one named `target`. Throws ParseError for a refused cell
  /// without a value, and for a column without any value. Also throws it for more than 1,000
  /// different texts in a column, and for more than 100,000 columns and texts.
  void fit(const DataTable& table, std::string_view target = {});
  /// f32 [rows, features], on the CPU. Finds columns by their names, if both tables have names,
  /// else by their order. Other columns are ignored. Throws ParseError for a missing column, and
  /// for a text that fit() has not seen. Also throws it for a text in a column of numbers. Cells
  /// without a value are treated as in fit().
  Tensor encode(const DataTable& table) const;

  /// One for each feature: "age", "color=red".
  std::vector<std::string> feature_names() const;
  int64_t features() const;
  bool has_texts() const;
  /// The form of the table of fit(), for reading others.
  TableForm form() const;
  void archive(Archive& archive);

 private:
  struct Feature {
    std::string name;
    int64_t position = 0;            // of the column in the table of fit()
    std::vector<std::string> texts;  // ascending; empty: a column of numbers
    double fill = 0;                 // for cells without a value
    bool is_text() const { return !texts.empty(); }
  };
  int64_t column_for(const DataTable& table, const Feature& feature) const;
  void encode_column(const DataTable& table, int64_t column, const Feature& feature, float* x,
                     int64_t stride) const;

  Missing missing_;
  bool has_names_ = false;
  std::vector<Feature> features_;
};

}  // namespace kaiseki::ml
