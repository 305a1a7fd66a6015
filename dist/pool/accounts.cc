// SPDX-License-Identifier: MIT
#include "dist/pool/accounts.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace kaiseki::dist {

void Accounts::load(double now) {
  const auto before = std::exchange(projects_, {});
  for (const ProjectStatus& status : store_.projects()) {
    const auto known = before.find(status.id);
    projects_[status.id] = {status, 0, known == before.end() ? now : known->second.renewed};
  }
}

ProjectId Accounts::add(const std::string& name, double weight, std::optional<double> lapse,
                        double now) {
  const ProjectId id = store_.add_project(name, weight, lapse);
  projects_[id] = {{id, name, weight, lapse}, 0, now};
  return id;
}

std::vector<ProjectStatus> Accounts::lapsed(double now) const {
  std::vector<ProjectStatus> found;
  for (const auto& [id, project] : projects_) {
    const std::optional<double>& lapse = project.status.lapse;
    if (lapse && now - project.renewed > *lapse) found.push_back(project.status);
  }
  return found;
}

void Accounts::set_weight(ProjectId project, double weight) {
  store_.set_weight(project, weight);
  projects_.at(project).status.weight = weight;
}

void Accounts::remove(ProjectId project) {
  store_.remove_project(project);
  projects_.erase(project);
}

void Accounts::expect(ProjectId project, std::string_view operation) const {
  if (!has(project))
    throw Error(message(operation, "expected a project of this pool, got ", project));
}

std::vector<ProjectStatus> Accounts::projects() const {
  std::vector<ProjectStatus> all;
  for (const auto& [id, project] : projects_) all.push_back(project.status);
  return all;
}

std::vector<ProjectId> Accounts::by_share() const {
  std::vector<std::pair<double, ProjectId>> order;
  for (const auto& [id, project] : projects_)
    order.emplace_back(std::max(project.served, served_), id);
  std::ranges::sort(order);
  std::vector<ProjectId> ids;
  for (const auto& [served, id] : order) ids.push_back(id);
  return ids;
}

void Accounts::charge(ProjectId id, double seconds) {
  ProjectAccount& project = projects_.at(id);
  served_ = std::max(project.served, served_);
  project.served = served_ + seconds / project.status.weight;
}

void Accounts::refund(ProjectId id, double seconds) {
  const auto found = projects_.find(id);
  if (found == projects_.end()) return;
  found->second.served -= seconds / found->second.status.weight;
}

}  // namespace kaiseki::dist
