// SPDX-License-Identifier: MIT
#include "matrix/tuning_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <locale>
#include <mutex>
#include <optional>
#include <sstream>

#include "matrix/cache_file.h"
#include "matrix/environment.h"

namespace kaiseki {
namespace {

constexpr size_t kMostLines = 1 << 14;

std::mutex mutex;

std::string in_quotes(std::string_view text) {
  std::string out(1, '"');
  for (char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (static_cast<unsigned char>(c) >= 32) out.push_back(c);
  }
  out.push_back('"');
  return out;
}

/// What a line must begin with to be about this case.
std::string beginning(const TuningKey& key) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << "{\"device\":" << in_quotes(key.device) << ",\"driver\":" << in_quotes(key.driver)
      << ",\"version\":" << in_quotes(library_version()) << ",\"threads\":" << key.threads
      << ",\"operation\":" << in_quotes(key.operation) << ",\"case\":" << in_quotes(key.which)
      << ",\"candidate\":\"";
  return std::move(out).str();
}

template <typename Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

/// `rest`: a line after its beginning.
std::optional<TuningResult> parse_result(std::string_view rest) {
  TuningResult result;
  const size_t end = rest.find('"');
  if (end == std::string_view::npos) return {};
  result.candidate = rest.substr(0, end);
  rest.remove_prefix(end);
  const bool whole = take(rest, "\",\"milliseconds\":") && take_number(rest, result.milliseconds) &&
                     take(rest, ",\"workspace\":") && take_number(rest, result.workspace) &&
                     rest == "}";
  if (!whole || !std::isfinite(result.milliseconds) || result.milliseconds < 0) return {};
  return result;
}

std::vector<std::string> read_lines() {
  std::vector<std::string> lines;
  std::ifstream in(tuning_file());
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("{\"device\":") && line.ends_with("}")) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::filesystem::path tuning_file() { return environment().cache_dir / "tuning.jsonl"; }

std::vector<TuningResult> recall_tuning(const TuningKey& key) {
  std::lock_guard lock(mutex);
  const std::string start = beginning(key);
  std::vector<TuningResult> results;
  for (std::string_view line : read_lines())
    if (take(line, start))
      if (auto result = parse_result(line)) results.push_back(*std::move(result));
  return results;
}

bool remember_tuning(const TuningKey& key, const std::vector<TuningResult>& results) {
  std::lock_guard lock(mutex);
  const std::string start = beginning(key);
  std::vector<std::string> lines = read_lines();
  std::erase_if(lines, [&](const std::string& line) { return line.starts_with(start); });
  if (lines.size() >= kMostLines) lines.erase(lines.begin(), lines.begin() + kMostLines / 2);
  std::ostringstream text;
  text.imbue(std::locale::classic());
  for (const std::string& line : lines) text << line << '\n';
  for (const TuningResult& result : results)
    text << start << result.candidate << "\",\"milliseconds\":" << result.milliseconds
         << ",\"workspace\":" << result.workspace << "}\n";
  return write_atomically(tuning_file(), text.str());
}

}  // namespace kaiseki
