// SPDX-License-Identifier: MIT
// Pictures with JPEG files: waves and some noise. read() gives the pixels before JPEG changed them.
// The server and the nodes have other pixels then, as with different decoders, but by far more.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nn/data/dataset.h"
#include "tests/support/encode_picture.h"

namespace kaiseki::test {

class Scenes : public nn::Dataset {
 public:
  Scenes(int side, int64_t size) : side_(side), size_(size) {}
  int64_t size() const override { return size_; }
  Shape sample_shape() const override { return {3, side_, side_}; }
  int classes() const override { return 10; }
  std::vector<std::string> class_names() const override { return std::vector<std::string>(10); }

  void read(int64_t index, uint8_t* out, int32_t& label, Random&) const override {
    label = static_cast<int32_t>(index % 10);
    nn::cut_sample(picture(index), {{side_, side_}}, side_, side_, out);
  }
  std::optional<nn::SampleFile> file(int64_t index, Random&) const override {
    return nn::SampleFile{encode_jpeg(picture(index), 90), {{side_, side_}}};
  }

 private:
  nn::Picture picture(int64_t index) const {
    Random random(3, static_cast<uint64_t>(index));
    nn::Picture result{side_, side_, 3, {}};
    for (int y = 0; y < side_; ++y)
      for (int x = 0; x < side_; ++x)
        for (int c = 0; c < 3; ++c) {
          const double wave = std::sin(0.02 * static_cast<double>((index % 10 + 1) * x + c)) +
                              std::cos(0.05 * static_cast<double>(y + index));
          result.pixels.push_back(static_cast<uint8_t>(100 + static_cast<int>(40 * wave) +
                                                       static_cast<int>(random.below(16))));
        }
    return result;
  }

  int side_;
  int64_t size_;
};

}  // namespace kaiseki::test
