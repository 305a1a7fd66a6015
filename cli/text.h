// SPDX-License-Identifier: MIT
// Numbers and tables for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaiseki::cli {

/// "60,000"
std::string format_count(int64_t value);
/// "0:07", "12:34", "1:02:03"
std::string format_duration(double seconds);
/// "98.76 %" of a share in 0..1.
std::string format_percent(double share, int decimals = 2);
/// "%.4g" and the like.
std::string format_number(const char* format, double value);
/// "a, b, c"
std::string join(const std::vector<std::string>& parts, const std::string& between);
std::vector<std::string> split(const std::string& text, char between);
/// UTF-8 without control characters: every other byte stands as \xe9.
std::string printable(std::string_view text);

/// Columns that line up; the first is left-aligned, numbers are right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void row(std::vector<std::string> cells);
  /// A line between this row and the next.
  void rule();
  std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

}  // namespace kaiseki::cli
