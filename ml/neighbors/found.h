// SPDX-License-Identifier: MIT
// The results of a search for neighbors.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

namespace kaiseki::ml {

/// Ordered by distance, then by index.
struct FoundNeighbor {
  float squared;  // distance
  int32_t index;

  auto operator<=>(const FoundNeighbor&) const = default;
};

/// The `most` smallest neighbors that were offered, as a heap with the largest at its front.
class NearestHeap {
 public:
  explicit NearestHeap(int64_t most) : most_(static_cast<size_t>(most)) {}

  bool accepts(const FoundNeighbor& found) const {
    return heap_.size() < most_ || (found <=> heap_.front()) < 0;
  }
  bool full() const { return heap_.size() == most_; }
  float worst() const { return heap_.front().squared; }
  void add(const FoundNeighbor& found) {
    if (full()) {
      std::pop_heap(heap_.begin(), heap_.end(), less);
      heap_.back() = found;
    } else {
      heap_.push_back(found);
    }
    std::push_heap(heap_.begin(), heap_.end(), less);
  }
  std::vector<FoundNeighbor>& items() { return heap_; }

 private:
  static bool less(const FoundNeighbor& a, const FoundNeighbor& b) { return (a <=> b) < 0; }

  size_t most_;
  std::vector<FoundNeighbor> heap_;
};

}  // namespace kaiseki::ml
