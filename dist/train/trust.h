// SPDX-License-Identifier: MIT
// Trust: whose contributions the server computes again itself, and who was caught lying.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "matrix/random.h"

namespace kaiseki::dist {

struct TrustOptions {
  double check_share = 0.02;  // of the contributions of proven nodes
  int newcomer_checks = 10;   // valid contributions that prove a node; until then all are checked
  std::optional<uint64_t> seed = {};  // of the choice; none: the system's randomness, so that no
                                      // node can foresee it
};

class Trust {
 public:
  explicit Trust(const TrustOptions& options)
      : options_(options), random_(options.seed ? *options.seed : secret_seed()) {}

  /// Whether the next contribution of this node is to be computed again.
  bool checks(const std::string& node) {
    const bool proven = valid_[node] >= options_.newcomer_checks;
    return random_.uniform() < options_.check_share || !proven;
  }
  /// One was, and agreed.
  void agreed(const std::string& node) { ++valid_[node]; }
  void expel(const std::string& node) { expelled_.insert(node); }
  bool expelled(const std::string& node) const { return expelled_.contains(node); }

 private:
  static uint64_t secret_seed() {
    std::random_device system;
    return uint64_t{system()} << 32 | system();
  }

  TrustOptions options_;
  Random random_;
  std::map<std::string, int> valid_;
  std::set<std::string> expelled_;
};

}  // namespace kaiseki::dist
