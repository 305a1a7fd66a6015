// SPDX-License-Identifier: MIT
// Accounts: the projects, the share of the pool's work that each has had, and the counters.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/pool/event.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {

class Accounts {
 public:
  explicit Accounts(Store& store) : store_(store) {}

  /// Reads the projects from the store. All shares start equal. Projects that were not known are
  /// renewed.
  void load(double now);

  ProjectId add(const std::string& name, double weight, std::optional<double> lapse, double now);
  void set_weight(ProjectId project, double weight);
  void remove(ProjectId project);
  void renew(ProjectId project, double now) { projects_.at(project).renewed = now; }
  /// The projects that were not renewed for longer than their lapse.
  std::vector<ProjectStatus> lapsed(double now) const;
  bool has(ProjectId project) const { return projects_.contains(project); }
  /// Throws Error if there is no such project.
  void expect(ProjectId project, std::string_view operation) const;
  std::vector<ProjectStatus> projects() const;

  /// The projects in the order in which they should get nodes.
  std::vector<ProjectId> by_share() const;
  /// Charges node seconds, divided by its weight, to the project.
  void charge(ProjectId project, double seconds);
  /// Undoes a charge. A project that was removed has none.
  void refund(ProjectId project, double seconds);

  void count(PoolEvent event) { ++counts_[static_cast<size_t>(event)]; }
  uint64_t counted(PoolEvent event) const { return counts_[static_cast<size_t>(event)]; }

 private:
  struct ProjectAccount {
    ProjectStatus status;
    double served = 0;   // node seconds / weight
    double renewed = 0;  // seconds since 1970; a restart renews all projects
  };

  Store& store_;
  std::map<ProjectId, ProjectAccount> projects_;
  double served_ = 0;  // ProjectAccount::served of the project that was charged last
  std::array<uint64_t, kPoolEvents.size()> counts_ = {};
};

}  // namespace kaiseki::dist
