// SPDX-License-Identifier: MIT
// Shows the progress of a fit: a live line on a terminal, else a line every 10 seconds.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "ml/progress.h"

namespace kaiseki::cli {

class FitProgress {
 public:
  /// `what`: "KMeans on 60,000 x 784". A quiet one shows nothing.
  FitProgress(std::string what, bool quiet);
  /// Removes the live line.
  ~FitProgress();
  FitProgress(const FitProgress&) = delete;
  FitProgress& operator=(const FitProgress&) = delete;

 private:
  void run();
  std::string line(double seconds) const;

  std::string what_;
  double start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::string step_;
  int64_t steps_ = 0, most_ = 0;
  ml::ProgressScope scope_;
  std::thread thread_;
};

}  // namespace kaiseki::cli
