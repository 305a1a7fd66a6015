// SPDX-License-Identifier: MIT
// Table: columns of numbers or texts, from a CSV file with or without a line of names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaiseki::ml {

/// Cells are empty or numbers, or the column is a column of texts.
struct Column {
  std::string name;                // of the first line, else "1", "2", ...
  std::vector<float> numbers;      // of a column of numbers; NaN: no value
  std::vector<std::string> texts;  // of a column of texts; empty: no value

  bool is_text() const { return !texts.empty(); }
  bool has_value(int64_t row) const;
  /// None for a text that is no number. NaN: no value.
  std::optional<float> number(int64_t row) const;
  /// "" for no value.
  std::string text(int64_t row) const;
};

struct DataTable {
  std::string source;  // the file's name, for errors
  std::vector<Column> columns;
  std::vector<int64_t> lines;  // of each row: its line in the file
  bool has_names = false;      // whether the first line had names

  int64_t rows() const { return static_cast<int64_t>(lines.size()); }
  /// The column's number, or -1.
  int64_t find(std::string_view name) const;
  /// "line 3, column 2 (age)"
  std::string place(int64_t row, int64_t column) const;
};

/// Reads CSV (RFC 4180): commas, semicolons or tabs between cells, the one that the first line has
/// most; cells may stand in double quotes. `has_names`: whether the first line has the names of the
/// columns. Nothing: it has them if all of its cells are texts and there is a number below it.
/// Empty cells, "NA", "N/A", "NaN", "nan", "null" and "?" are no value. Throws ParseError with line
/// and column for rows of different lengths, and for a quote that does not end.
DataTable parse_table(std::string_view text, std::string_view source,
                      std::optional<bool> has_names = {});
DataTable read_table(const std::filesystem::path& path, std::optional<bool> has_names = {});

}  // namespace kaiseki::ml
