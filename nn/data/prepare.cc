// SPDX-License-Identifier: MIT
// Converts a picture of bytes to a sample of floats: resize, crop, flip, normalization.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "nn/data/picture.h"
#include "nn/data/resize.h"

namespace kaiseki::nn {
namespace {

/// The part of a crop that lies inside the picture, along one axis. The crop has `length` pixels
/// from `first`. The axis has `to` pixels.
struct Overlap {
  int before = 0, count = 0;  // pixels of the crop: before the picture, inside it
  Overlap(int64_t first, int length, int64_t to)
      : before(static_cast<int>(std::clamp<int64_t>(-first, 0, length))),
        count(static_cast<int>(std::clamp<int64_t>(to - first, before, length)) - before) {}
};

float for_channel(const std::vector<float>& values, int channel, float otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

/// The normalized float for each value of a byte.
std::array<float, 256> sample_values(float mean, float std) {
  std::array<float, 256> values;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (static_cast<float>(i) / 255.0f - mean) / std;
  return values;
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

void prepare_sample(const Picture& original, const Preprocessing& how, Random* augmentation,
                    float* out) {
  check(original, how);
  const PictureSize scaled = scaled_size(whole_size(original), how);
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
  ResizeWindows windows = whole_windows(original, scaled);
  const bool same = windows.rows.extent == static_cast<double>(scaled.height) &&
                    windows.columns.extent == static_cast<double>(scaled.width);
  Picture resized;
  if (!same && rows.count > 0 && columns.count > 0) {
    windows.rows.first = top + rows.before;
    windows.rows.count = rows.count;
    windows.columns.first = left + columns.before;
    windows.columns.count = columns.count;
    resized = resize_part(original, windows);
  }
  const Picture& picture = same ? original : resized;
  const auto first_row = static_cast<size_t>(same ? top + rows.before : 0);
  const auto first_column = static_cast<size_t>(same ? left + columns.before : 0);
  const int channels = original.channels;
  for (int c = 0; c < channels; ++c) {
    const std::array<float, 256> values =
        sample_values(for_channel(how.mean, c, 0), for_channel(how.std, c, 1));
    for (int y = 0; y < how.height; ++y, out += how.width) {
      const int from_y = y - rows.before;
      if (from_y < 0 || from_y >= rows.count || columns.count == 0) {
        std::fill_n(out, how.width, values[0]);
        continue;
      }
      const uint8_t* in =
          picture.pixels.data() +
          ((first_row + static_cast<size_t>(from_y)) * picture.width + first_column) * channels + c;
      const int end = columns.before + columns.count;
      std::fill_n(out, columns.before, values[0]);
      for (int x = columns.before; x < end; ++x)
        out[x] = values[in[(x - columns.before) * channels]];
      std::fill(out + end, out + how.width, values[0]);
      if (mirrored) std::reverse(out, out + how.width);
    }
  }
}

}  // namespace kaiseki::nn
