// SPDX-License-Identifier: MIT
// From a picture of bytes to a sample of floats: resize, crop, flip, normalisation.
#include <algorithm>
#include <cmath>

#include "matrix/error.h"
#include "nn/data/picture.h"

namespace kaiseki::nn {
namespace {

/// For each output pixel of one axis, the input pixels that it is made of and their weights: a
/// triangle as wide as the larger of an input and an output pixel.
struct Taps {
  struct Span {
    int first = 0, count = 0;
    size_t weights = 0;  // where they begin
  };
  std::vector<Span> spans;
  std::vector<float> weights;
};

Taps make_taps(int from, int to) {
  Taps taps;
  double scale = static_cast<double>(from) / to, support = std::max(scale, 1.0);
  for (int i = 0; i < to; ++i) {
    double centre = (i + 0.5) * scale;
    int first = std::max(0, static_cast<int>(std::ceil(centre - support - 0.5)));
    int last = std::min(from - 1, static_cast<int>(std::floor(centre + support - 0.5)));
    size_t begin = taps.weights.size();
    double sum = 0;
    for (int k = first; k <= last; ++k) {
      double weight = std::max(0.0, 1 - std::abs(k + 0.5 - centre) / support);
      taps.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (size_t k = begin; k < taps.weights.size(); ++k)
      taps.weights[k] = static_cast<float>(taps.weights[k] / sum);
    taps.spans.push_back({first, last - first + 1, begin});
  }
  return taps;
}

/// The size to which a picture is brought before the crop.
std::pair<int, int> scaled_size(const Picture& picture, const Preprocessing& how) {
  double shorter = std::min(picture.height, picture.width);
  double scale = how.resize ? how.resize / shorter : 0;
  double cover = std::max(static_cast<double>(how.height) / picture.height,
                          static_cast<double>(how.width) / picture.width);
  scale = std::max(scale, cover);
  return {std::max(how.height, static_cast<int>(std::lround(picture.height * scale))),
          std::max(how.width, static_cast<int>(std::lround(picture.width * scale)))};
}

float for_channel(const std::vector<float>& values, int channel, float otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

void check(const Picture& picture, const Preprocessing& how) {
  require(how.channels == picture.channels && how.height > 0 && how.width > 0, "prepare_sample",
          "expected ", picture.channels, " channels and a height and width above 0, got ",
          how.channels, ", ", how.height, ", ", how.width);
  for (const auto* values : {&how.mean, &how.std})
    require(values->size() <= 1 || static_cast<int>(values->size()) == how.channels,
            "prepare_sample", "expected a mean and std for each of ", how.channels,
            " channels, got ", values->size());
  for (float value : how.std)
    require(value > 0, "prepare_sample", "expected a std above 0, got ", value);
}

}  // namespace

Picture resize_picture(const Picture& picture, int height, int width) {
  require(height > 0 && width > 0 && picture.height > 0 && picture.width > 0, "resize",
          "expected sizes above 0, got ", picture.height, "x", picture.width, " to ", height, "x",
          width);
  int channels = picture.channels;
  Taps across = make_taps(picture.width, width), down = make_taps(picture.height, height);
  size_t row = static_cast<size_t>(width) * channels;
  std::vector<float> wide(static_cast<size_t>(picture.height) * row);
  for (int y = 0; y < picture.height; ++y) {
    const uint8_t* in = picture.pixels.data() + static_cast<size_t>(y) * picture.width * channels;
    float* out = wide.data() + static_cast<size_t>(y) * row;
    for (const Taps::Span& span : across.spans) {
      for (int c = 0; c < channels; ++c) {
        float sum = 0;
        for (int k = 0; k < span.count; ++k)
          sum += across.weights[span.weights + k] * in[(span.first + k) * channels + c];
        *out++ = sum;
      }
    }
  }
  Picture result{height, width, channels, std::vector<uint8_t>(static_cast<size_t>(height) * row)};
  std::vector<float> line(row);
  for (int y = 0; y < height; ++y) {
    const Taps::Span& span = down.spans[y];
    std::fill(line.begin(), line.end(), 0.5f);
    for (int k = 0; k < span.count; ++k) {
      float weight = down.weights[span.weights + k];
      const float* in = wide.data() + static_cast<size_t>(span.first + k) * row;
      for (size_t x = 0; x < row; ++x) line[x] += weight * in[x];
    }
    uint8_t* out = result.pixels.data() + static_cast<size_t>(y) * row;
    for (size_t x = 0; x < row; ++x)
      out[x] = static_cast<uint8_t>(std::clamp(line[x], 0.0f, 255.0f));
  }
  return result;
}

void prepare_sample(const Picture& original, const Preprocessing& how, Random* augmentation,
                    float* out) {
  check(original, how);
  auto [height, width] = scaled_size(original, how);
  Picture resized;
  bool same = height == original.height && width == original.width;
  if (!same) resized = resize_picture(original, height, width);
  const Picture& picture = same ? original : resized;

  int top = (height - how.height) / 2, left = (width - how.width) / 2;
  bool mirrored = false;
  if (augmentation) {
    if (how.random_crop || how.padding > 0) {
      int pad = how.padding;
      auto place = [&](int slack) {
        return static_cast<int>(augmentation->below(static_cast<uint64_t>(slack) + 1)) - pad;
      };
      top = place(height - how.height + 2 * pad);
      left = place(width - how.width + 2 * pad);
    }
    if (how.flip) mirrored = augmentation->next() >> 31;
  }

  const int channels = picture.channels;
  for (int c = 0; c < channels; ++c) {
    float mean = for_channel(how.mean, c, 0), std = for_channel(how.std, c, 1);
    auto value = [&](int pixel) { return (static_cast<float>(pixel) / 255.0f - mean) / std; };
    for (int y = 0; y < how.height; ++y, out += how.width) {
      int from_y = y + top;
      if (from_y < 0 || from_y >= height) {
        std::fill_n(out, how.width, value(0));
        continue;
      }
      const uint8_t* in =
          picture.pixels.data() + static_cast<size_t>(from_y) * width * channels + c;
      int begin = std::clamp(-left, 0, how.width), end = std::clamp(width - left, begin, how.width);
      std::fill_n(out, begin, value(0));
      for (int x = begin; x < end; ++x) out[x] = value(in[(x + left) * channels]);
      std::fill(out + end, out + how.width, value(0));
      if (mirrored) std::reverse(out, out + how.width);
    }
  }
}

}  // namespace kaiseki::nn
