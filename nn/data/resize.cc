// SPDX-License-Identifier: MIT
#include "nn/data/resize.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace kaiseki::nn {
namespace {

constexpr int kLanes = 4;  // floats that are summed together; a pixel has 1 or 3

/// The input pixels of each output pixel along one axis, and their weights. The weights are a
/// triangle. Its half width is one input or output pixel, whichever is larger.
struct ResizeTaps {
  struct Span {
    int first = 0, count = 0;
    size_t weights = 0;  // index of the first weight
  };
  std::vector<Span> spans;
  std::vector<float> weights;

  int begin() const { return spans.front().first; }
  int end() const { return spans.back().first + spans.back().count; }
};

ResizeTaps make_taps(const ResizeWindow& window) {
  ResizeTaps taps;
  double scale = window.extent / static_cast<double>(window.to);
  double support = std::max(scale, 1.0);
  for (int64_t i = window.first; i < window.first + window.count; ++i) {
    double center = (static_cast<double>(i) + 0.5) * scale;
    int first = std::max(0, static_cast<int>(std::ceil(center - support - 0.5)));
    int last = std::min(window.from - 1, static_cast<int>(std::floor(center + support - 0.5)));
    size_t begin = taps.weights.size();
    double sum = 0;
    for (int k = first; k <= last; ++k) {
      double weight = std::max(0.0, 1 - std::abs(k + 0.5 - center) / support);
      taps.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (size_t k = begin; k < taps.weights.size(); ++k)
      taps.weights[k] = static_cast<float>(taps.weights[k] / sum);
    taps.spans.push_back({first, last - first + 1, begin});
  }
  return taps;
}

/// Resizes vertically: computes one row of `count` values, starting at column `in`.
void sum_rows(const uint8_t* in, size_t stride, const ResizeTaps& taps,
              const ResizeTaps::Span& span, size_t count, float* __restrict out) {
  std::fill_n(out, count, 0.0f);
  for (int k = 0; k < span.count; ++k, in += stride) {
    const float weight = taps.weights[span.weights + k];
    const uint8_t* __restrict row = in;
    for (size_t x = 0; x < count; ++x) out[x] += weight * static_cast<float>(row[x]);
  }
}

/// Resizes a row horizontally. `in` begins with the first pixel that a span uses, and has kLanes
/// values of padding at the end.
template <int kChannels>
void sum_columns(const float* in, const ResizeTaps& taps, uint8_t* out) {
  const int left = taps.begin();
  for (const ResizeTaps::Span& span : taps.spans) {
    const float* pixel = in + (span.first - left) * kChannels;
    const float* weight = taps.weights.data() + span.weights;
    float sum[kLanes] = {0.5f, 0.5f, 0.5f, 0.5f};
    for (int k = 0; k < span.count; ++k, pixel += kChannels)
      for (int i = 0; i < kLanes; ++i) sum[i] += weight[k] * pixel[i];
    for (int c = 0; c < kChannels; ++c)
      *out++ = static_cast<uint8_t>(std::clamp(sum[c], 0.0f, 255.0f));
  }
}

}  // namespace

PictureSize scaled_size(PictureSize whole, const Preprocessing& how) {
  const auto height = static_cast<double>(whole.height), width = static_cast<double>(whole.width);
  const double cover = std::max(how.height / height, how.width / width);
  const double scale = std::max(how.resize ? how.resize / std::min(height, width) : 0, cover);
  return {std::max<int64_t>(how.height, std::llround(height * scale)),
          std::max<int64_t>(how.width, std::llround(width * scale))};
}

int eighths_needed(PictureSize whole, const Preprocessing& how) {
  if (how.height == 0 || how.width == 0) return 8;
  const PictureSize scaled = scaled_size(whole, how);
  auto enough = [](int64_t side, int eighths, int64_t needed) {
    return (side * eighths + 7) / 8 >= needed;
  };
  int eighths = 1;
  while (eighths < 8 && !(enough(whole.height, eighths, scaled.height) &&
                          enough(whole.width, eighths, scaled.width)))
    ++eighths;
  return eighths;
}

PictureSize whole_size(const Picture& picture) {
  if (picture.eighths == 8) return {picture.height, picture.width};
  return {picture.whole_height, picture.whole_width};
}

ResizeWindows whole_windows(const Picture& picture, PictureSize scaled) {
  const PictureSize whole = whole_size(picture);
  auto window = [&](int from, int64_t side, int64_t to) {
    return ResizeWindow{from, static_cast<double>(side) * picture.eighths / 8, to, 0,
                        static_cast<int>(to)};
  };
  return {window(picture.height, whole.height, scaled.height),
          window(picture.width, whole.width, scaled.width)};
}

Picture resize_part(const Picture& picture, const ResizeWindows& windows) {
  const int channels = picture.channels;
  const ResizeTaps across = make_taps(windows.columns), down = make_taps(windows.rows);
  const size_t used = static_cast<size_t>(across.end() - across.begin()) * channels;
  const size_t stride = static_cast<size_t>(picture.width) * channels;
  const size_t row = static_cast<size_t>(windows.columns.count) * channels;
  Picture result{windows.rows.count, windows.columns.count, channels,
                 std::vector<uint8_t>(static_cast<size_t>(windows.rows.count) * row)};
  std::vector<float> line(used + kLanes);
  const uint8_t* in = picture.pixels.data() + static_cast<size_t>(across.begin()) * channels;
  uint8_t* out = result.pixels.data();
  for (const ResizeTaps::Span& span : down.spans) {
    sum_rows(in + static_cast<size_t>(span.first) * stride, stride, down, span, used, line.data());
    channels == 3 ? sum_columns<3>(line.data(), across, out)
                  : sum_columns<1>(line.data(), across, out);
    out += row;
  }
  return result;
}

Picture resize_picture(const Picture& picture, int height, int width) {
  require(height > 0 && width > 0 && picture.height > 0 && picture.width > 0, "resize",
          "expected sizes above 0, got ", picture.height, "x", picture.width, " to ", height, "x",
          width);
  return resize_part(picture, whole_windows(picture, {height, width}));
}

}  // namespace kaiseki::nn
