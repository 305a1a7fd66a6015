// SPDX-License-Identifier: MIT
#include "dist/train/norm_gate.h"

#include <algorithm>

#include "base/median.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kKept = 64, kFew = 8;
constexpr double kFloor = 1e-4;  // as in agree(): smaller gradients are rounding

double upper_quartile(const std::deque<double>& values) {
  return quantile({values.begin(), values.end()}, 0.75);
}

}  // namespace

std::optional<double> NormGate::ratio(const std::vector<ResultNorm>& norms) const {
  std::vector<double> usual;
  double largest = 0;  // quartile of gradients
  for (const ResultNorm& one : norms) {
    const auto found = last_.find(one.name);
    if (found == last_.end() || found->second.size() < kFew) return std::nullopt;
    usual.push_back(upper_quartile(found->second));
    if (one.gradient) largest = std::max(largest, usual.back());
  }
  double ratio = 1;
  for (size_t i = 0; i < norms.size(); ++i) {
    const double expected = std::max(usual[i], norms[i].gradient ? kFloor * largest : 0);
    if (norms[i].norm > expected) ratio = std::max(ratio, norms[i].norm / expected);
  }
  return ratio;
}

std::optional<double> NormGate::usual(const std::string& name) const {
  const auto found = last_.find(name);
  if (found == last_.end() || found->second.size() < kFew) return std::nullopt;
  return upper_quartile(found->second);
}

void NormGate::add(const std::vector<ResultNorm>& norms) {
  for (const ResultNorm& one : norms) {
    std::deque<double>& last = last_[one.name];
    last.push_back(one.norm);
    if (last.size() > kKept) last.pop_front();
  }
}

}  // namespace kaiseki::dist
