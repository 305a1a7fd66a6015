// SPDX-License-Identifier: MIT
#include "ml/table/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"

namespace kaiseki::ml {
namespace {

struct Row {
  int64_t line;
  std::vector<std::string> cells;
};

std::string place_of(int64_t line, int64_t column) {
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Splits a text into rows of cells.
class Cells {
 public:
  Cells(std::string_view text, std::string_view source) : text_(text), source_(source) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // a byte order mark
    size_t most = 0;
    for (const char candidate : {',', ';', '\t'}) {
      const size_t count = count_in_first_line(candidate);
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
  /// Counts outside of quotes.
  size_t count_in_first_line(char candidate) const {
    size_t count = 0;
    bool quoted = false;
    for (const char c : text_) {
      if (c == '"') quoted = !quoted;
      if (c == '\n' && !quoted) break;
      count += c == candidate && !quoted;
    }
    return count;
  }

  /// Adds a cell. Returns whether the row has another one.
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

/// NaN for a missing value, nothing for a text. Infinity for a number that is too large.
std::optional<float> number_of(std::string_view cell) {
  if (is_missing(cell)) return std::numeric_limits<float>::quiet_NaN();
  const std::optional<double> value = parse_decimal(cell);
  if (!value || std::isnan(*value)) return {};
  return static_cast<float>(*value);
}

/// Whether all cells of the first row are texts. A number must also be below one of them, or the
/// form must have one of them.
bool first_row_has_names(const std::vector<Row>& rows, const TableForm& form) {
  const auto is_number = [](const std::string& cell) {
    return !is_missing(cell) && number_of(cell).has_value();
  };
  if (std::ranges::any_of(rows[0].cells, is_number)) return false;
  for (const auto* names : {&form.names, &form.texts})
    for (const std::string& name : *names)
      if (std::ranges::find(rows[0].cells, name) != rows[0].cells.end()) return true;
  return std::any_of(rows.begin() + 1, rows.end(),
                     [&](const Row& row) { return std::ranges::any_of(row.cells, is_number); });
}

std::string shown(const std::string& cell) { return "'" + cell.substr(0, 40) + "'"; }

/// Reads the columns of a file.
class Columns {
 public:
  Columns(const std::vector<Row>& rows, size_t first, std::string_view source)
      : rows_(rows), first_(first), source_(source) {}

  Column read(size_t number, const std::vector<std::string>& texts) const {
    Column column;
    column.name = first_ ? rows_[0].cells[number] : std::to_string(number + 1);
    const bool is_text =
        std::ranges::find(texts, column.name) != texts.end() || begins_with_text(number);
    for (size_t i = first_; i < rows_.size(); ++i) {
      const std::string& cell = rows_[i].cells[number];
      if (is_text)
        column.texts.push_back(is_missing(cell) ? "" : cell);
      else
        column.numbers.push_back(number_at(i, number));
    }
    return column;
  }

 private:
  bool begins_with_text(size_t number) const {
    for (size_t i = first_; i < rows_.size(); ++i)
      if (const std::string& cell = rows_[i].cells[number]; !is_missing(cell))
        return !number_of(cell).has_value();
    return false;
  }

  float number_at(size_t row, size_t column) const {
    const std::string& cell = rows_[row].cells[column];
    const std::optional<float> value = number_of(cell);
    const std::string place = place_of(rows_[row].line, static_cast<int64_t>(column) + 1);
    if (!value)
      throw ParseError(source_, place,
                       "expected a number, as above in the column, got " + shown(cell));
    if (std::isinf(*value))
      throw ParseError(source_, place, "expected a finite number of 32 bits, got " + shown(cell));
    return *value;
  }

  const std::vector<Row>& rows_;
  size_t first_;
  std::string_view source_;
};

/// Throws ParseError with the line of the first bytes that are not UTF-8.
void check_utf8(std::string_view text, std::string_view source) {
  if (is_utf8(text)) return;
  int64_t line = 1;
  for (size_t at = 0; at < text.size();) {
    const std::string_view own = text.substr(at, text.find('\n', at) - at);
    if (!is_utf8(own))
      throw ParseError(source, "line " + std::to_string(line), "expected text in UTF-8");
    at += own.size() + 1;
    ++line;
  }
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

std::optional<int64_t> DataTable::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(columns, [&](const Column& column) { return column.name == name; });
  if (found == columns.end()) return std::nullopt;
  return found - columns.begin();
}

std::string DataTable::place(int64_t row, int64_t column) const {
  const std::string place = place_of(lines[static_cast<size_t>(row)], column + 1);
  return has_names ? place + " (" + columns[static_cast<size_t>(column)].name + ")" : place;
}

DataTable parse_table(std::string_view text, std::string_view source, const TableForm& form) {
  check_utf8(text, source);
  const std::vector<Row> rows = Cells(text, source).rows();
  DataTable table;
  table.source = source;
  if (rows.empty()) throw ParseError(source, "line 1", "expected a row, got none");
  for (const Row& row : rows)
    if (row.cells.size() != rows[0].cells.size())
      throw ParseError(source, "line " + std::to_string(row.line),
                       text_from("expected ", rows[0].cells.size(), " cells as in line ",
                                 rows[0].line, ", got ", row.cells.size()));
  table.has_names = form.has_names.value_or(first_row_has_names(rows, form));
  const size_t first = table.has_names ? 1 : 0;
  if (rows.size() == first)
    throw ParseError(source, "line " + std::to_string(rows[0].line + 1),
                     "expected a row, got none");
  std::set<std::string> names;
  const Columns columns(rows, first, source);
  for (size_t j = 0; j < rows[0].cells.size(); ++j) {
    table.columns.push_back(columns.read(j, form.texts));
    if (!names.insert(table.columns.back().name).second)
      throw ParseError(source, place_of(rows[0].line, static_cast<int64_t>(j) + 1),
                       "expected each name once, got '" + table.columns.back().name + "' again");
  }
  for (size_t i = first; i < rows.size(); ++i) table.lines.push_back(rows[i].line);
  return table;
}

DataTable take_rows(const DataTable& table, std::span<const int32_t> rows) {
  DataTable part;
  part.source = table.source;
  part.has_names = table.has_names;
  for (const Column& column : table.columns) part.columns.emplace_back().name = column.name;
  for (const int32_t row : rows) {
    const auto i = static_cast<size_t>(row);
    part.lines.push_back(table.lines[i]);
    for (size_t j = 0; j < table.columns.size(); ++j) {
      const Column& from = table.columns[j];
      if (from.is_text())
        part.columns[j].texts.push_back(from.texts[i]);
      else
        part.columns[j].numbers.push_back(from.numbers[i]);
    }
  }
  return part;
}

DataTable read_table(const std::filesystem::path& path, const TableForm& form) {
  const ByteVector bytes = read_file(path);
  return parse_table(as_text(bytes), path.string(), form);
}

}  // namespace kaiseki::ml
