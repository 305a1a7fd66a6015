// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/choice_store.h"

#include <fstream>
#include <mutex>
#include <sstream>
#include <vector>

#include "matrix/backend/opencl/binary_store.h"
#include "matrix/backend/opencl/text.h"
#include "matrix/environment.h"

namespace kaiseki::opencl {
namespace {

constexpr size_t kMostLines = 4096;

std::mutex mutex;

std::string quoted(std::string_view text) {
  std::string out(1, '"');
  for (char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (static_cast<unsigned char>(c) >= 32) out.push_back(c);
  }
  out.push_back('"');
  return out;
}

std::string field(std::string_view name, std::string_view value) {
  return joined({quoted(name), ":", quoted(value), ","});
}

/// What a line must begin with to be about this device and case.
std::string beginning(const DeviceFacts& facts, std::string_view operation,
                      std::string_view which) {
  return joined({"{", field("device", facts.name), field("driver", facts.driver),
                 field("version", library_version()), field("operation", operation),
                 field("case", which), "\"choice\":\""});
}

std::filesystem::path file() { return environment().cache_dir / "opencl" / "choices.jsonl"; }

std::vector<std::string> read_lines() {
  std::vector<std::string> lines;
  std::ifstream in(file());
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("{\"device\":") && line.ends_with("}")) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::string recall_choice(const DeviceFacts& facts, std::string_view operation,
                          std::string_view which) {
  std::lock_guard lock(mutex);
  std::string start = beginning(facts, operation, which), choice;
  for (auto& line : read_lines())
    if (line.starts_with(start))
      choice = line.substr(start.size(), line.find('"', start.size()) - start.size());
  return choice;
}

void remember_choice(const DeviceFacts& facts, std::string_view operation, std::string_view which,
                     std::string_view choice, double gflops) {
  std::lock_guard lock(mutex);
  std::string start = beginning(facts, operation, which);
  std::vector<std::string> lines = read_lines();
  std::erase_if(lines, [&](auto& line) { return line.starts_with(start); });
  if (lines.size() >= kMostLines) lines.erase(lines.begin(), lines.begin() + kMostLines / 2);
  std::ostringstream text;
  for (auto& line : lines) text << line << '\n';
  text << start << choice << "\",\"gflops\":" << gflops << "}\n";
  write_atomically(file(), text.str());
}

}  // namespace kaiseki::opencl
