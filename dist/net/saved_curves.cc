// SPDX-License-Identifier: MIT
#include "dist/net/saved_curves.h"

#include <algorithm>
#include <vector>

#include "dist/net/author_json.h"

namespace kaiseki::dist {

std::string saved_curves(const Curves& curves, size_t most_bytes) {
  std::string saved;
  const std::vector<ProjectId> projects = curves.projects();
  for (auto project = projects.rbegin(); project != projects.rend(); ++project) {
    Json points = Json::array();
    for (const CurvePoint& point : curves.of(*project)) points.items.push_back(to_json(point));
    Json line = Json::object();
    const std::string text =
        format_json_line(line.set("project", *project).set("points", std::move(points)));
    if (saved.size() + text.size() >= most_bytes) break;
    saved += text + "\n";
  }
  return saved;
}

void restore_curves(std::string_view saved, Curves& curves) {
  while (!saved.empty()) {
    const size_t end = std::min(saved.find('\n'), saved.size());
    const Fields line(saved.substr(0, end));
    const ProjectId project = line.integer("project", 0, 1, int64_t{1} << 53);
    for (const Fields& point : line.list("points")) curves.add(project, read_point(point));
    saved.remove_prefix(std::min(end + 1, saved.size()));
  }
}

}  // namespace kaiseki::dist
