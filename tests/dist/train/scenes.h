// SPDX-License-Identifier: MIT
// Images that JPEG compresses with some loss: waves and some noise.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "nn/data/dataset.h"

namespace kaiseki::test {

class Scenes : public nn::Dataset {
 public:
  Scenes(int64_t side, int64_t size) : side_(side), size_(size) {}
  int64_t size() const override { return size_; }
  Shape sample_shape() const override { return {3, side_, side_}; }
  int classes() const override { return 10; }
  std::vector<std::string> class_names() const override { return std::vector<std::string>(10); }
  void read(int64_t index, float* out, int32_t& label, Random&) const override {
    Random random(3, static_cast<uint64_t>(index));
    label = static_cast<int32_t>(index % 10);
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t y = 0; y < side_; ++y)
        for (int64_t x = 0; x < side_; ++x) {
          const double wave = std::sin(0.02 * static_cast<double>((label + 1) * x + c)) +
                              std::cos(0.05 * static_cast<double>(y + index));
          *out++ = static_cast<float>(100 + static_cast<int>(40 * wave) +
                                      static_cast<int>(random.below(16))) /
                   255.0f;
        }
  }

 private:
  int64_t side_, size_;
};

}  // namespace kaiseki::test
