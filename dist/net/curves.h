// SPDX-License-Identifier: MIT
// Curves: loss and accuracy by step, for the console.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "dist/pool/types.h"

namespace kaiseki::dist {

struct CurvePoint {
  int64_t step = 0;
  std::optional<double> loss = {};
  std::optional<double> accuracy = {};  // of an evaluation, 0 to 1
  // The progress of training. Each value is set only if the author reports it.
  std::optional<int64_t> steps = {};   // of the whole training
  std::optional<int64_t> epoch = {};   // of this step, from 1
  std::optional<int64_t> epochs = {};  // of the whole training
};

class Curves {
 public:
  /// A full curve drops every second of its older points.
  explicit Curves(size_t most = 2000) : most_(most) {}

  /// If the step is before the last one, training was restarted and the curve begins again.
  void add(ProjectId project, const CurvePoint& point);
  void forget(ProjectId project) { curves_.erase(project); }
  /// The points after step `after`.
  std::vector<CurvePoint> of(ProjectId project, int64_t after = -1) const;
  /// The projects in ascending order.
  std::vector<ProjectId> projects() const;
  bool has(ProjectId project) const { return curves_.count(project) > 0; }

 private:
  size_t most_;
  std::map<ProjectId, std::vector<CurvePoint>> curves_;
};

}  // namespace kaiseki::dist
