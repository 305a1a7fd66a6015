// SPDX-License-Identifier: MIT
// Rows of a kernel matrix, computed in blocks on demand and kept in a bounded number of bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "ml/svm/kernel.h"

namespace kaiseki::ml {

/// The samples are in groups, such as classes. A segment is a part of a row: the kernel of one
/// sample with all samples of one group. Pairs of classes share segments. The least recently used
/// segments are discarded.
class KernelCache {
 public:
  /// Group g has the samples from begins[g] to begins[g + 1].
  KernelCache(KernelFunction function, KernelSamples samples, std::vector<int64_t> begins,
              int64_t bytes);

  int64_t group_begin(int64_t group) const { return begins_[group]; }
  int64_t group_size(int64_t group) const { return begins_[group + 1] - begins_[group]; }
  const std::vector<double>& diagonal() const { return diagonal_; }

  bool contains(int64_t sample, int64_t group) const { return index_[group][sample] != nullptr; }
  /// The segment, or nullptr. It counts as used.
  const float* use(int64_t sample, int64_t group);
  /// Computes those segments that are missing. Requires at most `segments_that_fit(group)`.
  void load(const std::vector<int64_t>& samples, int64_t group);
  int64_t segments_that_fit(int64_t group) const;
  /// Increases when segments are discarded: older pointers are invalid.
  int64_t generation() const { return generation_; }
  /// The number of segments that were computed.
  int64_t computed() const { return computed_; }
  int64_t bytes() const { return used_; }
  const KernelFunction& function() const { return function_; }
  const KernelSamples& samples() const { return samples_; }

 private:
  struct Segment {
    std::unique_ptr<float[]> values;
    int32_t sample, group;
    Segment *older, *newer;
  };
  void unlink(const Segment& segment);
  void make_newest(Segment& segment);
  void insert(int64_t sample, int64_t group, const float* values);
  void make_room(int64_t bytes);

  KernelFunction function_;
  KernelSamples samples_;
  std::vector<int64_t> begins_;
  std::vector<double> diagonal_;
  int64_t capacity_, used_ = 0, generation_ = 0, computed_ = 0;
  std::vector<std::vector<Segment*>> index_;  // [group][sample]: the segment, or nullptr
  std::deque<Segment> segments_;
  std::vector<Segment*> unused_;  // free places in segments_
  Segment *oldest_ = nullptr, *newest_ = nullptr;
};

/// The rows of the matrix of two groups: its variables are the samples of `first` and then those of
/// `second`. For one group, pass it twice.
class PairRows {
 public:
  PairRows(KernelCache& cache, int64_t first, int64_t second);

  int64_t size() const { return first_size_ + second_size_; }
  int64_t first_size() const { return first_size_; }
  double diagonal(int64_t variable) const { return cache_.diagonal()[sample(variable)]; }
  int64_t sample(int64_t variable) const {
    return variable < first_size_ ? first_begin_ + variable
                                  : second_begin_ + variable - first_size_;
  }

  struct Row {
    const float *first, *second;
  };
  /// Whether the row is in the cache.
  bool contains(int64_t variable) const {
    return cache_.contains(sample(variable), first_) && cache_.contains(sample(variable), second_);
  }
  /// Whether row() gives the row now. The row counts as used.
  bool use(int64_t variable);
  /// The row is valid until the next load().
  Row row(int64_t variable) const { return rows_[variable]; }
  /// How many rows are best computed at a time.
  int64_t rows_per_load() const { return rows_per_load_; }
  /// Computes the rows of at most rows_per_load() variables. The row of `keep` is not evicted.
  void load(const std::vector<int64_t>& variables, std::optional<int64_t> keep = {});

 private:
  KernelCache& cache_;
  int64_t first_, second_, first_begin_, second_begin_, first_size_, second_size_;
  int64_t rows_per_load_, generation_;
  std::vector<Row> rows_;
};

}  // namespace kaiseki::ml
