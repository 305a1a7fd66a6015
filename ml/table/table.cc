// SPDX-License-Identifier: MIT
#include "ml/table/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"

namespace kaiseki::ml {
namespace {

struct Row {
  int64_t line;
  std::vector<std::string> cells;
};

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \r\t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \r\t") - first + 1);
}

std::string place_of(int64_t line, int64_t column) {
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Splits a text into rows of cells.
class Cells {
 public:
  Cells(std::string_view text, std::string_view source) : text_(text), source_(source) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // a byte order mark
    const std::string_view first = text_.substr(0, text_.find('\n'));
    size_t most = 0;
    for (const char candidate : {',', ';', '\t'}) {
      const auto count = static_cast<size_t>(std::count(first.begin(), first.end(), candidate));
      if (count > most) {
        most = count;
        separator_ = candidate;
      }
    }
  }

  std::vector<Row> rows() {
    std::vector<Row> rows;
    while (at_ < text_.size()) {
      Row row{line_, {}};
      while (cell(row)) {
      }
      if (row.cells.size() > 1 || !row.cells[0].empty()) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  /// Adds a cell. Returns whether the row goes on.
  bool cell(Row& row) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ < text_.size() && text_[at_] == '"') return quoted(row);
    const size_t end =
        std::min(text_.find_first_of(std::string{separator_, '\n'}, at_), text_.size());
    row.cells.emplace_back(trimmed(text_.substr(at_, end - at_)));
    return ends_at(end);
  }

  bool quoted(Row& row) {
    const int64_t line = line_;
    std::string value;
    for (++at_;; ++at_) {
      if (at_ >= text_.size())
        throw ParseError(source_, place_of(line, static_cast<int64_t>(row.cells.size()) + 1),
                         "expected a quote at the end of the cell, got the end of the file");
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '"' && text_.substr(at_ + 1).starts_with('"'))
        ++at_;
      else if (text_[at_] == '"')
        break;
      value += text_[at_];
    }
    const size_t end =
        std::min(text_.find_first_of(std::string{separator_, '\n'}, ++at_), text_.size());
    if (const std::string_view rest = trimmed(text_.substr(at_, end - at_)); !rest.empty())
      throw ParseError(source_, place_of(line_, static_cast<int64_t>(row.cells.size()) + 1),
                       "expected the end of the cell after its quote, got '" +
                           std::string(rest.substr(0, 40)) + "'");
    row.cells.push_back(std::move(value));
    return ends_at(end);
  }

  bool ends_at(size_t end) {
    at_ = end + 1;
    if (end < text_.size() && text_[end] == separator_) return true;
    ++line_;
    return false;
  }

  std::string_view text_, source_;
  char separator_ = ',';
  size_t at_ = 0;
  int64_t line_ = 1;
};

bool is_missing(std::string_view cell) {
  return cell.empty() || cell == "NA" || cell == "N/A" || cell == "NaN" || cell == "nan" ||
         cell == "null" || cell == "?";
}

/// NaN for a missing value, nothing for a text.
std::optional<float> number_of(std::string_view cell) {
  if (is_missing(cell)) return std::numeric_limits<float>::quiet_NaN();
  if (cell.starts_with('+') && !cell.starts_with("+-")) cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) return {};
  return static_cast<float>(value);
}

/// Whether all cells of the first row are texts, and a number is below one of them.
bool first_row_has_names(const std::vector<Row>& rows) {
  const auto is_number = [](const std::string& cell) {
    return !is_missing(cell) && number_of(cell).has_value();
  };
  if (std::ranges::any_of(rows[0].cells, is_number)) return false;
  return std::any_of(rows.begin() + 1, rows.end(),
                     [&](const Row& row) { return std::ranges::any_of(row.cells, is_number); });
}

Column column_of(const std::vector<Row>& rows, size_t number, size_t first) {
  Column column;
  column.name = first ? rows[0].cells[number] : std::to_string(number + 1);
  for (size_t i = first; i < rows.size(); ++i) {
    const std::optional<float> value = number_of(rows[i].cells[number]);
    if (!value) break;
    column.numbers.push_back(*value);
  }
  if (column.numbers.size() == rows.size() - first) return column;
  column.numbers.clear();
  for (size_t i = first; i < rows.size(); ++i) {
    const std::string& cell = rows[i].cells[number];
    column.texts.push_back(is_missing(cell) ? "" : cell);
  }
  return column;
}

}  // namespace

bool Column::has_value(int64_t row) const {
  const auto i = static_cast<size_t>(row);
  return is_text() ? !texts[i].empty() : !std::isnan(numbers[i]);
}

std::optional<float> Column::number(int64_t row) const {
  const auto i = static_cast<size_t>(row);
  return is_text() ? number_of(texts[i]) : numbers[i];
}

std::string Column::text(int64_t row) const {
  const auto i = static_cast<size_t>(row);
  if (is_text()) return texts[i];
  if (std::isnan(numbers[i])) return "";
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + 32, numbers[i]).ptr};
}

int64_t DataTable::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(columns, [&](const Column& column) { return column.name == name; });
  return found == columns.end() ? -1 : found - columns.begin();
}

std::string DataTable::place(int64_t row, int64_t column) const {
  const std::string place = place_of(lines[static_cast<size_t>(row)], column + 1);
  return has_names ? place + " (" + columns[static_cast<size_t>(column)].name + ")" : place;
}

DataTable parse_table(std::string_view text, std::string_view source,
                      std::optional<bool> has_names) {
  const std::vector<Row> rows = Cells(text, source).rows();
  DataTable table;
  table.source = source;
  if (rows.empty()) throw ParseError(source, "line 1", "expected a row, got none");
  for (const Row& row : rows)
    if (row.cells.size() != rows[0].cells.size())
      throw ParseError(source, "line " + std::to_string(row.line),
                       text_from("expected ", rows[0].cells.size(), " cells as in line ",
                                 rows[0].line, ", got ", row.cells.size()));
  table.has_names = has_names.value_or(first_row_has_names(rows));
  const size_t first = table.has_names ? 1 : 0;
  if (rows.size() == first)
    throw ParseError(source, "line " + std::to_string(rows[0].line + 1),
                     "expected a row, got none");
  std::set<std::string> names;
  for (size_t j = 0; j < rows[0].cells.size(); ++j) {
    table.columns.push_back(column_of(rows, j, first));
    if (!names.insert(table.columns.back().name).second)
      throw ParseError(source, place_of(rows[0].line, static_cast<int64_t>(j) + 1),
                       "expected each name once, got '" + table.columns.back().name + "' again");
  }
  for (size_t i = first; i < rows.size(); ++i) table.lines.push_back(rows[i].line);
  return table;
}

DataTable read_table(const std::filesystem::path& path, std::optional<bool> has_names) {
  const ByteVector bytes = read_file(path);
  return parse_table(as_text(bytes), path.string(), has_names);
}

}  // namespace kaiseki::ml
