// SPDX-License-Identifier: MIT
// Curves: how training goes, as its author tells, for the console. In memory only.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "dist/pool/types.h"

namespace kaiseki::dist {

struct CurvePoint {
  int64_t step = 0;
  std::optional<double> loss = {};
  std::optional<double> accuracy = {};  // of a test, 0 to 1
};

class Curves {
 public:
  /// A curve that is full keeps every second point of its older ones.
  explicit Curves(size_t most = 2000) : most_(most) {}

  /// A step before the last one begins the curve anew: training was started again.
  void add(ProjectId project, const CurvePoint& point);
  void forget(ProjectId project) { curves_.erase(project); }
  /// Points behind step `after`.
  std::vector<CurvePoint> of(ProjectId project, int64_t after = -1) const;
  bool has(ProjectId project) const { return curves_.count(project) > 0; }

 private:
  size_t most_;
  std::map<ProjectId, std::vector<CurvePoint>> curves_;
};

}  // namespace kaiseki::dist
