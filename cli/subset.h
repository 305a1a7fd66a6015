// SPDX-License-Identifier: MIT
// Selects samples of a data set for --limit: one from each of equal parts. The sample then also
// represents data that is sorted by class or periodic.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/data/dataset.h"

namespace kaiseki::cli {

class Subset : public nn::Dataset {
 public:
  /// `size` is from 1 to the whole set's size.
  Subset(std::shared_ptr<const nn::Dataset> whole, int64_t size)
      : whole_(std::move(whole)), size_(size) {}
  int64_t size() const override { return size_; }
  Shape sample_shape() const override { return whole_->sample_shape(); }
  int classes() const override { return whole_->classes(); }
  std::vector<std::string> class_names() const override { return whole_->class_names(); }
  void read(int64_t index, float* out, int32_t& label, Random& augmentation) const override {
    whole_->read(place(index), out, label, augmentation);
  }

  /// Returns the index in the whole set. It increases with `index` and is the same in every run.
  int64_t place(int64_t index) const {
    const int64_t begin = start(index);
    const auto room = static_cast<uint64_t>(start(index + 1) - begin);
    return begin + static_cast<int64_t>(Random(0, static_cast<uint64_t>(index)).below(room));
  }

 private:
  int64_t start(int64_t part) const {
    const int64_t each = whole_->size() / size_, rest = whole_->size() % size_;
    return part * each + part * rest / size_;
  }
  std::shared_ptr<const nn::Dataset> whole_;
  int64_t size_;
};

}  // namespace kaiseki::cli
