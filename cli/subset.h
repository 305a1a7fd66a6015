// SPDX-License-Identifier: MIT
// The first samples of a data set, for --limit.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/data/dataset.h"

namespace kaiseki::cli {

class Subset : public nn::Dataset {
 public:
  Subset(std::shared_ptr<const nn::Dataset> whole, int64_t size)
      : whole_(std::move(whole)), size_(size) {}
  int64_t size() const override { return size_; }
  Shape sample_shape() const override { return whole_->sample_shape(); }
  int classes() const override { return whole_->classes(); }
  std::vector<std::string> class_names() const override { return whole_->class_names(); }
  void read(int64_t index, float* out, int32_t& label, Random& augmentation) const override {
    whole_->read(index, out, label, augmentation);
  }

 private:
  std::shared_ptr<const nn::Dataset> whole_;
  int64_t size_;
};

}  // namespace kaiseki::cli
