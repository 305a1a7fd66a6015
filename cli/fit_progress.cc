// SPDX-License-Identifier: MIT
#include "cli/fit_progress.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kaiseki::cli {

FitProgress::FitProgress(std::string what, bool quiet)
    : what_(std::move(what)),
      start_(steady_seconds()),
      scope_([this](std::string_view step, int64_t done, int64_t most) {
        const std::lock_guard lock(mutex_);
        step_ = step;
        steps_ = done;
        most_ = most;
      }) {
  if (!quiet) thread_ = std::thread([this] { run(); });
}

FitProgress::~FitProgress() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  clear_live_line();
}

std::string FitProgress::line(double seconds) const {
  std::string text = "fitting " + what_ + "  " + format_duration(seconds);
  if (most_ <= 0) return text;
  text += "  " + format_count(steps_) + " of at most " + format_count(most_) + " " + step_;
  if (steps_ > 0 && seconds > 1)
    text += ", at most " +
            format_duration(seconds * static_cast<double>(most_ - steps_) /
                            static_cast<double>(steps_)) +
            " left";
  return text;
}

void FitProgress::run() {
  const bool live = terminal().live;
  const auto interval = std::chrono::milliseconds(live ? 250 : 10'000);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval, [this] { return done_; })) {
    const std::string text = line(steady_seconds() - start_);
    if (live) {
      draw_live_line(text);
    } else {
      std::printf("%s\n", text.c_str());
      std::fflush(stdout);
    }
  }
}

}  // namespace kaiseki::cli
