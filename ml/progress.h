// SPDX-License-Identifier: MIT
// The progress of a long fit(), for programs that show it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace kaiseki::ml {

/// `step` is one word in the plural, such as "iterations" or "trees". `most`: fit() may end
/// earlier.
using ProgressSink = std::function<void(std::string_view step, int64_t done, int64_t most)>;

/// While it lives, fits of this thread report to `sink`. An exception of `sink` ends the fit.
class ProgressScope {
 public:
  explicit ProgressScope(ProgressSink sink);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

 private:
  ProgressSink sink_;
  const ProgressSink* outer_;
};

/// For estimators: calls the sink of this thread, if there is one.
void report_progress(std::string_view step, int64_t done, int64_t most);

}  // namespace kaiseki::ml
