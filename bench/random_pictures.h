// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "nn/data/dataset.h"

namespace kaiseki::bench {

/// Pictures of random bytes, at the cost of one byte each.
class RandomPictures : public nn::Dataset {
 public:
  RandomPictures(int64_t size, const Shape& shape, int classes)
      : size_(size), shape_(shape), classes_(classes) {}
  int64_t size() const override { return size_; }
  Shape sample_shape() const override { return shape_; }
  int classes() const override { return classes_; }
  std::vector<std::string> class_names() const override {
    return std::vector<std::string>(static_cast<size_t>(classes_), "class");
  }
  void read(int64_t index, uint8_t* out, int32_t& label, Random& augmentation) const override {
    std::fill_n(out, shape_.elements(), static_cast<uint8_t>(augmentation.below(256)));
    label = static_cast<int32_t>(index % classes_);
  }

 private:
  int64_t size_;
  Shape shape_;
  int classes_;
};

}  // namespace kaiseki::bench
