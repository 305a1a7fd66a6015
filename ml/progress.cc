// SPDX-License-Identifier: MIT
#include "ml/progress.h"

#include <utility>

namespace kaiseki::ml {
namespace {
thread_local const ProgressSink* current = nullptr;
}  // namespace

ProgressScope::ProgressScope(ProgressSink sink) : sink_(std::move(sink)), outer_(current) {
  current = &sink_;
}

ProgressScope::~ProgressScope() { current = outer_; }

void report_progress(std::string_view step, int64_t done, int64_t most) {
  if (current && *current) (*current)(step, done, most);
}

}  // namespace kaiseki::ml
