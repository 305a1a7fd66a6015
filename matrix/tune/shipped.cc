// SPDX-License-Identifier: MIT
#include "matrix/tune/shipped.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace kaiseki {
namespace {

constexpr double kReach = 4;

// Format of a line: driver;threads;direction and problem without its minibatch;minibatch;candidate
// milliseconds ...
constexpr std::string_view kTable =
#include "matrix/tune/shipped_table.inc"
    ;

std::string_view take(std::string_view& text, char end) {
  const size_t length = std::min(text.find(end), text.size());
  const std::string_view field = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return field;
}

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The ratio of two sizes, at least 1.
double apart(double a, double b) { return std::max(a, b) / std::min(a, b); }

}  // namespace

std::vector<TuningResult> shipped_tuning(const TuningKey& key) {
  if (key.which_per_image.empty()) return {};
  const auto n = static_cast<double>(key.minibatch);
  std::string_view best;
  double nearest = kReach * kReach, scale = 1;
  for (std::string_view table = kTable; !table.empty();) {
    std::string_view line = take(table, '\n');
    if (take(line, ';') != key.driver) continue;
    const double threads = number(take(line, ';'));
    if (take(line, ';') != key.which_per_image) continue;
    const double measured = number(take(line, ';'));
    const double by_threads = apart(threads, key.threads), by_batch = apart(measured, n);
    if (by_threads > kReach || by_batch > kReach || by_threads * by_batch >= nearest) continue;
    nearest = by_threads * by_batch;
    best = line;
    scale = n / measured * threads / key.threads;
  }
  std::vector<TuningResult> results;
  while (!best.empty()) {
    const std::string_view candidate = take(best, ' ');
    results.push_back({std::string(candidate), scale * number(take(best, ' '))});
  }
  return results;
}

}  // namespace kaiseki
