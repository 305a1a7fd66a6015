// SPDX-License-Identifier: MIT
// Functions that both kinds of forests use.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "matrix/tensor.h"
#include "ml/tree/tree.h"

namespace kaiseki::ml {

/// How often each of n samples occurs among n draws with replacement, for one tree of a forest.
std::vector<uint16_t> bootstrap_counts(int64_t n, uint64_t seed, uint64_t tree);

/// The trees that grow(number) returns, grown in parallel.
std::vector<Tree> grow_forest(int64_t count, const std::function<Tree(uint64_t tree)>& grow);

/// [rows, outputs]: the means of the trees. x: f32 [rows, features] on the CPU, contiguous.
std::vector<double> mean_of_trees(std::span<const Tree> trees, const Tensor& x);

/// The means of the trees that did not have a sample.
struct OutOfBag {
  std::vector<double> means;  // [rows, outputs]
  std::vector<int64_t> rows;  // of the samples that have such a tree, ascending
};
OutOfBag out_of_bag(std::span<const Tree> trees, const Tensor& x, uint64_t seed);

/// i32 [rows, trees]
Tensor leaves_of_trees(std::span<const Tree> trees, const Tensor& x);

}  // namespace kaiseki::ml
