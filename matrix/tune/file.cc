// SPDX-License-Identifier: MIT
#include "matrix/tune/file.h"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <optional>
#include <utility>

#include "base/cache_file.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/json.h"

namespace kaiseki {
namespace {

constexpr size_t kMostLines = 1 << 14;

std::mutex mutex;

Json values_of(const TuningKey& key) {
  Json line = Json::object();
  line.set("device", key.device).set("driver", key.driver).set("version", library_version());
  line.set("threads", key.threads).set("operation", key.operation).set("case", key.which);
  return line;
}

/// The start of all lines with these values.
std::string beginning(const Json& values) {
  std::string text = format_json_compact(values);
  text.back() = ',';  // in place of the brace
  return text;
}

std::string line_of(const TuningKey& key, const TuningResult& result) {
  Json line = values_of(key);
  line.set("candidate", result.candidate);
  if (result.outcome == TuningOutcome::timed)
    line.set("milliseconds", result.milliseconds);
  else
    line.set("outcome", std::string(outcome_name(result.outcome)));
  line.set("workspace", static_cast<int64_t>(result.workspace));
  return format_json_compact(line);
}

std::optional<TuningResult> parse_result(const std::string& line) try {
  const Json values = parse_json(line, "tuning file");
  const Json *const candidate = values.find("candidate"), *const time = values.find("milliseconds"),
                    *const outcome = values.find("outcome"),
                    *const workspace = values.find("workspace");
  if (!candidate || !candidate->is(Json::Kind::string)) return {};
  if (!workspace || !workspace->is_integer() || workspace->number < 0) return {};
  TuningResult result{.candidate = candidate->string,
                      .workspace = static_cast<uint64_t>(workspace->number)};
  if (time && time->is(Json::Kind::number) && time->number >= 0) {
    result.milliseconds = time->number;
    return result;
  }
  for (TuningOutcome failed : {TuningOutcome::wrong, TuningOutcome::refused})
    if (outcome && outcome->string == outcome_name(failed)) {
      result.outcome = failed;
      return result;
    }
  return {};
} catch (const ParseError&) {
  return {};
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
  const std::string start = beginning(values_of(key));
  std::vector<TuningResult> results;
  read_contents();
  for (const std::string& line : last_read.lines)
    if (line.starts_with(start))
      if (auto result = parse_result(line)) results.push_back(*std::move(result));
  return results;
}

bool remember_tuning(const TuningKey& key, const std::vector<TuningResult>& results) {
  std::lock_guard lock(mutex);
  static std::filesystem::path cleared;  // leftovers of killed processes; cleared once
  const std::filesystem::path folder = tuning_file().parent_path();
  if (std::exchange(cleared, folder) != folder) remove_leftovers(folder);
  const CacheLock turn(tuning_file() += ".lock");
  last_read = {};  // read again, because the file's time may be too coarse to show a change
  read_contents();
  if (!last_read.readable) return false;
  std::vector<std::string> lines = std::exchange(last_read, {}).lines;
  for (const TuningResult& result : results) {
    const std::string start = beginning(values_of(key).set("candidate", result.candidate));
    std::erase_if(lines, [&](const std::string& line) { return line.starts_with(start); });
  }
  if (lines.size() >= kMostLines) lines.erase(lines.begin(), lines.begin() + kMostLines / 2);
  for (const TuningResult& result : results) lines.push_back(line_of(key, result));
  std::string text;
  for (const std::string& line : lines) (text += line) += '\n';
  return write_cache_file(tuning_file(), text);
}

}  // namespace kaiseki
