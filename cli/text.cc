// SPDX-License-Identifier: MIT
#include "cli/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/utf8.h"
#include "cli/terminal.h"

namespace kaiseki::cli {
namespace {

bool starts_with_digit(const std::string& text) { return text[0] >= '0' && text[0] <= '9'; }

/// Breaks a text into lines of at most `width` columns, at spaces if there are any.
std::vector<std::string> lines_of(const std::string& text, int width) {
  std::vector<std::string> lines = {""};
  for (const std::string& word : split(text, ' ')) {
    const int with_word = display_width(lines.back()) + 1 + display_width(word);
    if (lines.back().empty()) {
      lines.back() = word;
    } else if (with_word <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
    while (display_width(lines.back()) > width) {
      const std::string first = leading_columns(lines.back(), width);
      const std::string rest = lines.back().substr(first.size());
      lines.back() = first;
      lines.push_back(rest);
    }
  }
  return lines;
}

/// Makes columns narrower until all fit into `room` columns: first the widest of text, then those
/// of numbers. `least` has the smallest widths.
void narrow(std::vector<int>& widths, const std::vector<int>& least,
            const std::vector<bool>& numeric, int room) {
  const auto shrink_widest = [&](bool of_numbers) {
    int* widest = nullptr;
    for (size_t i = 0; i < widths.size(); ++i)
      if (numeric[i] == of_numbers && widths[i] > least[i] && (!widest || widths[i] > *widest))
        widest = &widths[i];
    if (widest) --*widest;
    return widest != nullptr;
  };
  const int gaps = 2 * (static_cast<int>(widths.size()) - 1);
  while (std::accumulate(widths.begin(), widths.end(), gaps) > room)
    if (!shrink_widest(false) && !shrink_widest(true)) return;
}

}  // namespace

std::string format_count(int64_t value) {
  std::string digits = std::to_string(value);
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > (value < 0); i -= 3)
    digits.insert(static_cast<size_t>(i), ",");
  return digits;
}

std::string format_duration(double seconds) {
  const auto s = static_cast<long long>(std::lround(std::max(0.0, std::min(seconds, 3.6e9))));
  char text[48];
  if (s >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  return text;
}

std::string format_percent(double share, int decimals) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f %%", decimals, 100 * share);
  return text;
}

std::string format_number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string bound_text(std::optional<double> seconds) {
  return seconds ? "; no plan takes less than " + format_number("%.3g", *seconds) + " s" : "";
}

std::string join(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i ? between : "") + parts[i];
  return text;
}

std::vector<std::string> split(const std::string& text, char between) {
  std::vector<std::string> parts;
  for (size_t start = 0; !text.empty() && start <= text.size();) {
    size_t end = std::min(text.find(between, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string shortened(const std::string& text) {
  constexpr size_t kShown = 60;
  return text.size() <= kShown ? text : std::string(first_bytes(text, kShown)) + "...";
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Utf8Character first = first_character(text);
    const size_t bytes = std::max<size_t>(1, first.bytes);
    if (first.bytes && !is_control(first.code)) {
      result += text.substr(0, bytes);
    } else {
      for (const char byte : text.substr(0, bytes)) {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(byte));
        result += escaped;
      }
    }
    text.remove_prefix(bytes);
  }
  return result;
}

Table::Table(std::vector<std::string> header) {
  row(std::move(header));
  rule();
}

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}
void Table::rule() { rows_.emplace_back(); }

std::string Table::str() const {
  constexpr int kLeastOfText = 10, kLeastOfNumbers = 3;
  std::vector<int> widths(rows_[0].size()), least(rows_[0].size(), kLeastOfNumbers);
  std::vector<bool> numeric(rows_[0].size());
  for (size_t r = 0; r < rows_.size(); ++r)
    for (size_t i = 0; i < rows_[r].size(); ++i) {
      widths[i] = std::max(widths[i], display_width(rows_[r][i]));
      if (r == 0) continue;
      least[i] = std::max(least[i], display_width(rows_[r][i]));
      if (i > 0 && !rows_[r][i].empty()) numeric[i] = starts_with_digit(rows_[r][i]);
    }
  for (size_t i = 0; i < least.size(); ++i)
    if (!numeric[i]) least[i] = kLeastOfText;
  if (terminal().live) narrow(widths, least, numeric, terminal_width());
  int total = -2;
  for (int width : widths) total += width + 2;
  const std::string dash = terminal().unicode ? "─" : "-";
  std::string text;
  for (size_t r = 0; r < rows_.size(); ++r) {
    if (rows_[r].empty()) {
      std::string line;
      for (int i = 0; i < total; ++i) line += dash;
      text += styled(TextStyle::dim, line) + "\n";
      continue;
    }
    std::vector<std::vector<std::string>> cells;
    size_t height = 1;
    for (size_t i = 0; i < rows_[r].size(); ++i) {
      cells.push_back(lines_of(rows_[r][i], widths[i]));
      height = std::max(height, cells[i].size());
    }
    for (size_t at = 0; at < height; ++at) {
      std::string line;
      for (size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = at < cells[i].size() ? cells[i][at] : "";
        std::string padding(static_cast<size_t>(widths[i] - display_width(cell)), ' ');
        line += (i ? "  " : "") + (numeric[i] ? padding + cell : cell + padding);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += (r == 0 ? styled(TextStyle::bold, line) : line) + "\n";
    }
  }
  return text;
}

}  // namespace kaiseki::cli
