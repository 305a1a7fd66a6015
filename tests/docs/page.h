// SPDX-License-Identifier: MIT
// Reads blocks of code and tables from pages of docs/.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_dir.h"

namespace kaiseki::test {

/// Returns the text of a file of the sources.
inline std::string text_of(const std::string& path) {
  std::ifstream file(test::source_dir() + "/" + path);
  REQUIRE_MESSAGE(file, path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Returns the text between two marks. If the second mark is missing, returns all text after the
/// first. If the first is missing, the test fails.
inline std::string between(const std::string& text, const std::string& from,
                           const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  const size_t first = at + from.size();
  return text.substr(first, text.find(to, first) - first);
}

/// Returns the code blocks of one language, in the page's order.
inline std::vector<std::string> code_blocks(const std::string& page, const std::string& language) {
  std::vector<std::string> blocks;
  const std::string mark = "\n```" + language + "\n";
  for (size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at + 1)) {
    const size_t first = at + mark.size();
    blocks.push_back(page.substr(first, page.find("```", first) - first));
  }
  return blocks;
}

/// Returns the cells of the first table after `heading`, without the table's header.
inline std::vector<std::vector<std::string>> table_after(const std::string& page,
                                                         const std::string& heading) {
  std::istringstream lines(between(page, heading + "\n", "\n## "));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      if (rows.empty()) continue;
      break;
    }
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    rows.push_back(cells);
  }
  REQUIRE_MESSAGE(rows.size() > 2, heading);
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

/// Returns the texts in `backticks`.
inline std::vector<std::string> ticked(const std::string& cell) {
  std::vector<std::string> words;
  for (size_t at = cell.find('`'); at != std::string::npos;) {
    const size_t end = cell.find('`', at + 1);
    words.push_back(cell.substr(at + 1, end - at - 1));
    at = cell.find('`', end + 1);
  }
  return words;
}

}  // namespace kaiseki::test
