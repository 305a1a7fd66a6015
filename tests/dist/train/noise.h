// SPDX-License-Identifier: MIT
// Noise with the shape of a network's input, for tests and benchmarks that count bytes.
#pragma once

#include <string>
#include <vector>

#include "nn/data/dataset.h"

namespace kaiseki::test {

class Noise : public nn::Dataset {
 public:
  Noise(Shape shape, int64_t size, int64_t classes)
      : shape_(shape), size_(size), classes_(classes) {}
  int64_t size() const override { return size_; }
  Shape sample_shape() const override { return shape_; }
  int classes() const override { return static_cast<int>(classes_); }
  std::vector<std::string> class_names() const override {
    return std::vector<std::string>(static_cast<size_t>(classes_));
  }
  void read(int64_t index, uint8_t* out, int32_t& label, Random&) const override {
    Random random(3, static_cast<uint64_t>(index));
    for (int64_t i = 0; i < shape_.elements(); ++i)
      out[i] = static_cast<uint8_t>(random.below(256));
    label = static_cast<int32_t>(index % classes_);
  }

 private:
  Shape shape_;
  int64_t size_, classes_;
};

}  // namespace kaiseki::test
