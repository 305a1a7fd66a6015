// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <mutex>
#include <set>
#include <string>

namespace kaiseki {
namespace {

struct State {
  std::mutex mutex;
  LogSink sink;
  std::set<std::string, std::less<>> seen;
};

State& state() {
  static State* instance = new State;  // never destroyed, because threads may log during exit
  return *instance;
}

void log(LogLevel level, std::string_view message) {
  std::lock_guard lock(state().mutex);
  if (state().sink) state().sink(level, message);
}

}  // namespace

void set_log_sink(LogSink sink) {
  std::lock_guard lock(state().mutex);
  state().sink = std::move(sink);
}

void log_info(std::string_view message) { log(LogLevel::info, message); }
void log_warning(std::string_view message) { log(LogLevel::warning, message); }

void log_warning_once(std::string_view message) { log_warning_once(message, message); }

void log_warning_once(std::string_view part, std::string_view message) {
  {
    std::lock_guard lock(state().mutex);
    if (!state().seen.emplace(part).second) return;
  }
  log(LogLevel::warning, message);
}

}  // namespace kaiseki
