// SPDX-License-Identifier: MIT
// Formats numbers and tables for the terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaiseki::cli {

/// "60,000"
std::string format_count(int64_t value);
/// "0:07", "12:34", "1:02:03"
std::string format_duration(double seconds);
/// "98.76 %" for a share in 0..1.
std::string format_percent(double share, int decimals = 2);
/// Formats one number, such as with "%.4g".
std::string format_number(const char* format, double value);
/// "; no plan takes less than 1.23 s", or nothing if the bound is not known.
std::string bound_text(std::optional<double> seconds);
/// "a, b, c"
std::string join(const std::vector<std::string>& parts, const std::string& between);
std::vector<std::string> split(const std::string& text, char between);
/// A long text's first 60 bytes and "...", for messages.
std::string shortened(const std::string& text);
/// Escapes control characters and bytes that are not UTF-8 as \xe9.
std::string printable(std::string_view text);

/// Aligned columns: the first to the left, numbers to the right. Cells are made printable(). On a
/// live terminal, texts are broken so that the table fits its width.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void row(std::vector<std::string> cells);
  /// Draws a line between this row and the next.
  void rule();
  std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

}  // namespace kaiseki::cli
