// SPDX-License-Identifier: MIT
#include "dist/net/curves.h"

#include <algorithm>

namespace kaiseki::dist {
namespace {

/// Keeps the first point, the last point and the evaluations, as there are few of them.
void thin(std::vector<CurvePoint>& points) {
  size_t kept = 0;
  for (size_t i = 0; i < points.size(); ++i)
    if (i % 2 == 0 || i + 1 == points.size() || points[i].accuracy) points[kept++] = points[i];
  points.resize(kept);
}

}  // namespace

void Curves::add(ProjectId project, const CurvePoint& point) {
  auto& points = curves_[project];
  if (!points.empty() && point.step < points.back().step) points.clear();
  if (points.size() >= most_) thin(points);
  if (points.size() >= most_) points.erase(points.begin());  // all points are evaluations
  points.push_back(point);
}

std::vector<CurvePoint> Curves::of(ProjectId project, int64_t after) const {
  const auto found = curves_.find(project);
  if (found == curves_.end()) return {};
  const auto& points = found->second;
  const auto first =
      std::ranges::find_if(points, [&](const auto& one) { return one.step > after; });
  return {first, points.end()};
}

std::vector<ProjectId> Curves::projects() const {
  std::vector<ProjectId> all;
  for (const auto& [project, points] : curves_) all.push_back(project);
  return all;
}

}  // namespace kaiseki::dist
