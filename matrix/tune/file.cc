// SPDX-License-Identifier: MIT
#include "matrix/tune/file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <locale>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

#include "base/cache_file.h"
#include "base/environment.h"

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

/// Every line of this case starts with this text.
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

bool take_outcome(std::string_view& text, TuningResult& result) {
  if (take(text, "\",\"milliseconds\":")) return take_number(text, result.milliseconds);
  for (TuningOutcome outcome : {TuningOutcome::wrong, TuningOutcome::refused})
    if (take(text, "\",\"outcome\":\"" + std::string(outcome_name(outcome)) + '"')) {
      result.outcome = outcome;
      return true;
    }
  return false;
}

/// `rest`: a line without its beginning.
std::optional<TuningResult> parse_result(std::string_view rest) {
  TuningResult result;
  const size_t end = rest.find('"');
  if (end == std::string_view::npos) return {};
  result.candidate = rest.substr(0, end);
  rest.remove_prefix(end);
  const bool whole = take_outcome(rest, result) && take(rest, ",\"workspace\":") &&
                     take_number(rest, result.workspace) && rest == "}";
  if (!whole || !std::isfinite(result.milliseconds) || result.milliseconds < 0) return {};
  return result;
}

/// The file's contents and its state at the last read. The caller must hold the lock.
struct Contents {
  std::filesystem::path path{};
  std::filesystem::file_time_type written{};
  uintmax_t bytes = 0;
  std::vector<std::string> lines{};
  bool readable = true;  // true also if the file does not exist

  bool is_of_same_file(const Contents& other) const {
    return path == other.path && written == other.written && bytes == other.bytes;
  }
};
Contents last_read;

void read_contents() {
  Contents now{.path = tuning_file()};
  std::error_code missing, error;
  now.written = std::filesystem::last_write_time(now.path, missing);
  now.bytes = std::filesystem::file_size(now.path, error);
  if (!missing && now.is_of_same_file(last_read)) return;
  std::ifstream in(now.path);
  now.readable = in.is_open() || missing;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("{\"device\":") && line.ends_with("}"))
      now.lines.push_back(std::move(line));
  last_read = std::move(now);
}

}  // namespace

std::filesystem::path tuning_file() { return environment().cache_dir / "tuning.jsonl"; }

std::vector<TuningResult> recall_tuning(const TuningKey& key) {
  std::lock_guard lock(mutex);
  const std::string start = beginning(key);
  std::vector<TuningResult> results;
  read_contents();
  for (std::string_view line : last_read.lines)
    if (take(line, start))
      if (auto result = parse_result(line)) results.push_back(*std::move(result));
  return results;
}

bool remember_tuning(const TuningKey& key, const std::vector<TuningResult>& results) {
  std::lock_guard lock(mutex);
  const std::string start = beginning(key);
  static std::filesystem::path cleared;  // leftovers of killed processes; cleared once
  const std::filesystem::path folder = tuning_file().parent_path();
  if (std::exchange(cleared, folder) != folder) remove_leftovers(folder);
  const CacheLock turn(tuning_file() += ".lock");
  last_read = {};  // read again, because the file's time may be too coarse to show a change
  read_contents();
  if (!last_read.readable) return false;
  std::vector<std::string> lines = std::exchange(last_read, {}).lines;
  for (const TuningResult& result : results)
    std::erase_if(lines, [one = start + result.candidate + '"'](const std::string& line) {
      return line.starts_with(one);
    });
  if (lines.size() >= kMostLines) lines.erase(lines.begin(), lines.begin() + kMostLines / 2);
  std::ostringstream text;
  text.imbue(std::locale::classic());
  for (const std::string& line : lines) text << line << '\n';
  for (const TuningResult& result : results) {
    text << start << result.candidate;
    if (result.outcome == TuningOutcome::timed)
      text << "\",\"milliseconds\":" << result.milliseconds;
    else
      text << "\",\"outcome\":\"" << outcome_name(result.outcome) << '"';
    text << ",\"workspace\":" << result.workspace << "}\n";
  }
  return write_cache_file(tuning_file(), text.str());
}

}  // namespace kaiseki
