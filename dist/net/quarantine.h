// SPDX-License-Identifier: MIT
// Quarantine: after an expulsion, new nodes of the same address have to wait. Each further
// expulsion doubles the time, so that joining again under another identity gains little.
#pragma once

#include <algorithm>
#include <map>
#include <string>

namespace kaiseki::dist {

class Quarantine {
 public:
  /// A node of this address was expelled. Times are seconds of any one clock.
  void expelled(const std::string& address, double now) {
    AddressEntry& entry = entries_[address];
    if (now < entry.forgotten) {
      entry.seconds = std::min(2 * entry.seconds, kMost);
    } else {
      entry.seconds = kFirst;
    }
    entry.until = now + entry.seconds;
    entry.forgotten = now + kRemembered;
  }
  /// The seconds until new nodes of the address may join. 0: now.
  double wait(const std::string& address, double now) const {
    const auto found = entries_.find(address);
    return found == entries_.end() ? 0 : std::max(0.0, found->second.until - now);
  }
  void forget(double now) {
    std::erase_if(entries_, [&](const auto& one) { return now >= one.second.forgotten; });
  }
  size_t size() const { return entries_.size(); }

  static constexpr double kFirst = 60, kMost = 3600, kRemembered = 86400;

 private:
  struct AddressEntry {
    double seconds = 0, until = 0, forgotten = 0;
  };
  std::map<std::string, AddressEntry> entries_;
};

}  // namespace kaiseki::dist
