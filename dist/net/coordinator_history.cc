// SPDX-License-Identifier: MIT
// The history that the console plots, and its file.
#include "base/error.h"
#include "base/file.h"
#include "dist/net/coordinator.h"

namespace kaiseki::dist {
namespace {

constexpr double kSaveSeconds = 60;
constexpr uint64_t kMostBytes = 1 << 20;

}  // namespace

void Coordinator::load_history() {
  const auto& file = options_.history;
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return;
  try {
    history_.restore(parse_json(as_text(read_file(file, kMostBytes)), file.string()));
  } catch (const Error& error) {  // only the plots of the console depend on the file
    log_.event("error", {{"what", error.what()}});
  }
}

void Coordinator::note_history(double now) {
  const auto& counters = pool_.counters();
  uint64_t ended = 0;
  for (const char* event : {"accepted", "dead"})
    if (const auto found = counters.find(event); found != counters.end()) ended += found->second;
  history_.add(clock_(), ended, by_node_.size());
  if (history_saved_ == 0) history_saved_ = now;
  if (now - history_saved_ < kSaveSeconds) return;
  history_saved_ = now;
  save_history();
}

void Coordinator::save_history() {
  if (options_.history.empty()) return;
  try {
    write_file_atomic(options_.history, as_bytes(format_json_line(history_.save())));
  } catch (const Error& error) {
    log_.event("error", {{"what", error.what()}});
  }
}

}  // namespace kaiseki::dist
