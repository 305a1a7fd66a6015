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

/// Some output pixels of one axis that has `from` pixels and is brought to `to`.
struct Window {
  int from = 0;
  int64_t to = 0, first = 0;
  int count = 0;
};

Taps make_taps(const Window& window) {
  Taps taps;
  double scale = static_cast<double>(window.from) / static_cast<double>(window.to);
  double support = std::max(scale, 1.0);
  for (int64_t i = window.first; i < window.first + window.count; ++i) {
    double centre = (static_cast<double>(i) + 0.5) * scale;
    int first = std::max(0, static_cast<int>(std::ceil(centre - support - 0.5)));
    int last = std::min(window.from - 1, static_cast<int>(std::floor(centre + support - 0.5)));
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

struct Size {
  int64_t height = 0, width = 0;
};

/// The size to which a picture is brought before the crop.
Size scaled_size(const Picture& picture, const Preprocessing& how) {
  double shorter = std::min(picture.height, picture.width);
  double scale = how.resize ? how.resize / shorter : 0;
  double cover = std::max(static_cast<double>(how.height) / picture.height,
                          static_cast<double>(how.width) / picture.width);
  scale = std::max(scale, cover);
  return {std::max<int64_t>(how.height, std::llround(picture.height * scale)),
          std::max<int64_t>(how.width, std::llround(picture.width * scale))};
}

/// The resized picture's part in the two windows, which are not empty. Makes nothing else of it.
Picture resize_part(const Picture& picture, const Window& rows, const Window& columns) {
  const int channels = picture.channels;
  const Taps across = make_taps(columns), down = make_taps(rows);
  const int top = down.spans.front().first;
  const int bottom = down.spans.back().first + down.spans.back().count;
  const size_t row = static_cast<size_t>(columns.count) * channels;
  std::vector<float> wide(static_cast<size_t>(bottom - top) * row);
  for (int y = top; y < bottom; ++y) {
    const uint8_t* in = picture.pixels.data() + static_cast<size_t>(y) * picture.width * channels;
    float* out = wide.data() + static_cast<size_t>(y - top) * row;
    for (const Taps::Span& span : across.spans) {
      for (int c = 0; c < channels; ++c) {
        float sum = 0;
        for (int k = 0; k < span.count; ++k)
          sum += across.weights[span.weights + k] * in[(span.first + k) * channels + c];
        *out++ = sum;
      }
    }
  }
  Picture result{rows.count, columns.count, channels,
                 std::vector<uint8_t>(static_cast<size_t>(rows.count) * row)};
  std::vector<float> line(row);
  for (int y = 0; y < rows.count; ++y) {
    const Taps::Span& span = down.spans[y];
    std::fill(line.begin(), line.end(), 0.5f);
    for (int k = 0; k < span.count; ++k) {
      float weight = down.weights[span.weights + k];
      const float* in = wide.data() + static_cast<size_t>(span.first + k - top) * row;
      for (size_t x = 0; x < row; ++x) line[x] += weight * in[x];
    }
    uint8_t* out = result.pixels.data() + static_cast<size_t>(y) * row;
    for (size_t x = 0; x < row; ++x)
      out[x] = static_cast<uint8_t>(std::clamp(line[x], 0.0f, 255.0f));
  }
  return result;
}

/// Where a crop of `length` pixels from `first` on meets an axis of `to` pixels.
struct Overlap {
  int before = 0, count = 0;  // of the crop's pixels: outside before it, inside
  Overlap(int64_t first, int length, int64_t to)
      : before(static_cast<int>(std::clamp<int64_t>(-first, 0, length))),
        count(static_cast<int>(std::clamp<int64_t>(to - first, before, length)) - before) {}
};

float for_channel(const std::vector<float>& values, int channel, float otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

void check(const Picture& picture, const Preprocessing& how) {
  require(how.channels == picture.channels && how.height > 0 && how.width > 0, "prepare_sample",
          "expected ", picture.channels, " channels and a height and width above 0, got ",
          how.channels, ", ", how.height, ", ", how.width);
  require(picture.height > 0 && picture.width > 0 && how.padding >= 0 && how.resize >= 0,
          "prepare_sample",
          "expected a picture with pixels, and padding and resize of 0 or more, got ",
          picture.height, "x", picture.width, ", ", how.padding, ", ", how.resize);
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
  return resize_part(picture, {picture.height, height, 0, height},
                     {picture.width, width, 0, width});
}

void prepare_sample(const Picture& original, const Preprocessing& how, Random* augmentation,
                    float* out) {
  check(original, how);
  const Size scaled = scaled_size(original, how);
  int64_t top = (scaled.height - how.height) / 2, left = (scaled.width - how.width) / 2;
  bool mirrored = false;
  if (augmentation) {
    if (how.random_crop || how.padding > 0) {
      const int64_t pad = how.padding;
      auto place = [&](int64_t slack) {
        return static_cast<int64_t>(augmentation->below(static_cast<uint64_t>(slack) + 1)) - pad;
      };
      top = place(scaled.height - how.height + 2 * pad);
      left = place(scaled.width - how.width + 2 * pad);
    }
    if (how.flip) mirrored = augmentation->next() >> 31;
  }

  const Overlap rows(top, how.height, scaled.height), columns(left, how.width, scaled.width);
  const bool same = scaled.height == original.height && scaled.width == original.width;
  Picture resized;
  if (!same && rows.count > 0 && columns.count > 0)
    resized = resize_part(original, {original.height, scaled.height, top + rows.before, rows.count},
                          {original.width, scaled.width, left + columns.before, columns.count});
  const Picture& picture = same ? original : resized;
  const auto first_row = static_cast<size_t>(same ? top + rows.before : 0);
  const auto first_column = static_cast<size_t>(same ? left + columns.before : 0);
  const int channels = original.channels;
  for (int c = 0; c < channels; ++c) {
    float mean = for_channel(how.mean, c, 0), std = for_channel(how.std, c, 1);
    auto value = [&](int pixel) { return (static_cast<float>(pixel) / 255.0f - mean) / std; };
    for (int y = 0; y < how.height; ++y, out += how.width) {
      const int from_y = y - rows.before;
      if (from_y < 0 || from_y >= rows.count || columns.count == 0) {
        std::fill_n(out, how.width, value(0));
        continue;
      }
      const uint8_t* in =
          picture.pixels.data() +
          ((first_row + static_cast<size_t>(from_y)) * picture.width + first_column) * channels + c;
      const int end = columns.before + columns.count;
      std::fill_n(out, columns.before, value(0));
      for (int x = columns.before; x < end; ++x)
        out[x] = value(in[(x - columns.before) * channels]);
      std::fill(out + end, out + how.width, value(0));
      if (mirrored) std::reverse(out, out + how.width);
    }
  }
}

}  // namespace kaiseki::nn
