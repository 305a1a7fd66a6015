// SPDX-License-Identifier: MIT
#include "ml/neighbors/kd_tree.h"

#include <limits>

#include "ml/cluster/centered_rows.h"

namespace kaiseki::ml {
namespace {

// The distance from a box is a sum of rounded squares. This keeps it a lower bound.
constexpr float kBoundRounding = 1 - 1e-5f;

struct NearestVisitor {
  NearestHeap heap;
  std::optional<int32_t> except;

  bool wants(float distance) const { return !heap.full() || distance <= heap.worst(); }
  void see(const FoundNeighbor& found) {
    if (found.index != except && heap.accepts(found)) heap.add(found);
  }
};

struct RadiusVisitor {
  std::vector<FoundNeighbor> found;
  float squared;
  std::optional<int32_t> except;

  bool wants(float distance) const { return distance <= squared; }
  void see(const FoundNeighbor& neighbor) {
    if (neighbor.index != except && neighbor.squared <= squared) found.push_back(neighbor);
  }
};

}  // namespace

KdTree::KdTree(const float* samples, int64_t count, int64_t features, int64_t leaf_size)
    : features_(features), order_(static_cast<size_t>(count)) {
  for (int64_t i = 0; i < count; ++i) order_[i] = static_cast<int32_t>(i);
  nodes_.push_back({.begin = 0, .end = count});
  for (size_t node = 0; node < nodes_.size(); ++node)
    build(static_cast<int64_t>(node), samples, leaf_size);
  values_.resize(static_cast<size_t>(count * features));
  for (int64_t i = 0; i < count; ++i)
    std::copy_n(samples + order_[i] * features, features, values_.data() + i * features);
}

void KdTree::build(int64_t node, const float* samples, int64_t leaf_size) {
  const int64_t begin = nodes_[node].begin, end = nodes_[node].end;
  if (end - begin <= leaf_size) return;
  std::vector<float> least(static_cast<size_t>(features_), std::numeric_limits<float>::infinity());
  std::vector<float> most(static_cast<size_t>(features_), -std::numeric_limits<float>::infinity());
  for (int64_t i = begin; i < end; ++i) {
    const float* sample = samples + order_[i] * features_;
    for (int64_t f = 0; f < features_; ++f) {
      least[f] = std::min(least[f], sample[f]);
      most[f] = std::max(most[f], sample[f]);
    }
  }
  int64_t axis = 0;
  for (int64_t f = 1; f < features_; ++f)
    if (most[f] - least[f] > most[axis] - least[axis]) axis = f;
  if (!(most[axis] > least[axis])) return;  // all samples are equal
  const int64_t middle = begin + (end - begin) / 2;
  const auto value = [&](int32_t i) { return samples[i * features_ + axis]; };
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&](int32_t a, int32_t b) { return value(a) < value(b); });
  nodes_[node].leaf = false;
  nodes_[node].axis = axis;
  nodes_[node].split = value(order_[middle]);
  nodes_[node].left = static_cast<int64_t>(nodes_.size());
  nodes_[node].right = nodes_[node].left + 1;
  nodes_.push_back({.begin = begin, .end = middle});
  nodes_.push_back({.begin = middle, .end = end});
}

/// distance: from the query to the box of the node, squared. offsets: its parts by feature.
template <class Visitor>
void KdTree::visit(int64_t number, const float* query, float distance, std::vector<float>& offsets,
                   Visitor& visitor) const {
  const KdNode& node = nodes_[number];
  if (node.leaf) {
    for (int64_t i = node.begin; i < node.end; ++i)
      visitor.see({squared_distance(query, values_.data() + i * features_, features_), order_[i]});
    return;
  }
  const float step = query[node.axis] - node.split;
  visit(step < 0 ? node.left : node.right, query, distance, offsets, visitor);
  const float before = offsets[node.axis];
  // Between the boxes the other features keep their parts.
  const float beyond = std::max(distance - before + step * step, distance);
  if (!visitor.wants(beyond * kBoundRounding)) return;
  offsets[node.axis] = std::max(before, step * step);
  visit(step < 0 ? node.right : node.left, query, beyond, offsets, visitor);
  offsets[node.axis] = before;
}

std::vector<FoundNeighbor> KdTree::nearest(const float* query, int64_t most,
                                           std::optional<int32_t> except) const {
  NearestVisitor visitor{NearestHeap(most), except};
  std::vector<float> offsets(static_cast<size_t>(features_));
  visit(0, query, 0, offsets, visitor);
  std::vector<FoundNeighbor> found = std::move(visitor.heap.items());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<FoundNeighbor> KdTree::within(const float* query, float squared,
                                          std::optional<int32_t> except) const {
  RadiusVisitor visitor{{}, squared, except};
  std::vector<float> offsets(static_cast<size_t>(features_));
  visit(0, query, 0, offsets, visitor);
  std::sort(visitor.found.begin(), visitor.found.end());
  return std::move(visitor.found);
}

}  // namespace kaiseki::ml
