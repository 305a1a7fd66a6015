// SPDX-License-Identifier: MIT
// The history and the training curves that the console plots, and their files.
#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "dist/net/coordinator.h"
#include "dist/net/saved_curves.h"

namespace kaiseki::dist {
namespace {

constexpr double kSaveSeconds = 60;
constexpr uint64_t kMostBytes = 1 << 20, kMostCurveBytes = 16 << 20;

std::filesystem::path curves_beside(const std::filesystem::path& history) {
  return history.parent_path() / "curves.jsonl";
}

}  // namespace

void Coordinator::load_history() {
  if (options_.history.empty()) return;
  const auto read = [&](const std::filesystem::path& file, uint64_t most, auto restore) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return;
    try {
      restore(std::string(as_text(read_file(file, most))), file.string());
    } catch (const Error& error) {  // only the plots of the console depend on the file
      log_.event("error", {{"what", error.what()}});
    }
  };
  read(options_.history, kMostBytes, [&](const std::string& text, const std::string& source) {
    history_.restore(parse_json(text, source));
  });
  read(curves_beside(options_.history), kMostCurveBytes,
       [&](const std::string& text, const std::string&) { restore_curves(text, curves_); });
  for (const ProjectId id : curves_.projects())
    if (std::ranges::none_of(pool_.projects(), [&](const auto& one) { return one.id == id; }))
      curves_.forget(id);
}

void Coordinator::note_history(double now) {
  const uint64_t ended = pool_.counted(PoolEvent::accepted) + pool_.counted(PoolEvent::dead);
  history_.add(clock_(), ended, by_node_.size());
  if (!history_saved_) history_saved_ = now;
  if (now - *history_saved_ < kSaveSeconds) return;
  history_saved_ = now;
  save_history();
}

void Coordinator::save_history() {
  if (options_.history.empty()) return;
  try {
    write_file_atomic(options_.history, as_bytes(format_json_line(history_.save())));
    write_file_atomic(curves_beside(options_.history),
                      as_bytes(saved_curves(curves_, kMostCurveBytes)));
  } catch (const Error& error) {
    log_.event("error", {{"what", error.what()}});
  }
}

}  // namespace kaiseki::dist
