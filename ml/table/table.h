// SPDX-License-Identifier: MIT
// Table: columns of numbers or texts, from a CSV file with or without a line of names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
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
};

struct DataTable {
  std::string source;  // the file's name, for errors
  std::vector<Column> columns;
  std::vector<int64_t> lines;  // of each row: its line in the file
  bool has_names = false;      // whether the first line had names

  int64_t rows() const { return static_cast<int64_t>(lines.size()); }
  /// The column's number, if there is such a column.
  std::optional<int64_t> find(std::string_view name) const;
  /// "line 3, column 2 (age)"
  std::string place(int64_t row, int64_t column) const;
};

/// Properties of a file that are known before it is read.
struct TableForm {
  std::optional<bool> has_names = {};   // whether the first line has the names of the columns
  std::vector<std::string> texts = {};  // columns of texts, also where a text looks like a number
  std::vector<std::string> names = {};  // columns that the reader will look for
};

/// Reads CSV (RFC 4180) in UTF-8. Commas, semicolons or tabs separate the cells: the one that the
/// first line has most. Cells may stand in double quotes. The first line can have names only if all
/// of its cells are texts. It has names if a number is below it or the form has one of them. A
/// column whose first value is a number has only numbers. Empty cells, "NA", "N/A", "NaN", "nan",
/// "null" and "?" are no value. Throws ParseError with the place. Errors are a text among numbers
/// and a number that 32 bits cannot hold. Others are rows of different lengths, a quote that does
/// not end, and bytes that are not UTF-8.
DataTable parse_table(std::string_view text, std::string_view source, const TableForm& form = {});
DataTable read_table(const std::filesystem::path& path, const TableForm& form = {});

/// These rows of a table, in this order. They keep their line numbers.
DataTable take_rows(const DataTable& table, std::span<const int32_t> rows);

}  // namespace kaiseki::ml
