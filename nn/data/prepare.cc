// SPDX-License-Identifier: MIT
// Cuts a sample from a picture: resize, crop, flip.
#include <algorithm>

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

void check(const Picture& picture, const Preprocessing& how) {
  require(how.channels == picture.channels && how.height > 0 && how.width > 0, "prepare_sample",
          "expected ", picture.channels, " channels and a height and width above 0, got ",
          how.channels, ", ", how.height, ", ", how.width);
  require(picture.height > 0 && picture.width > 0 && how.padding >= 0 && how.resize >= 0,
          "prepare_sample",
          "expected a picture with pixels, and padding and resize of 0 or more, got ",
          picture.height, "x", picture.width, ", ", how.padding, ", ", how.resize);
}

}  // namespace

SamplePlace place_sample(PictureSize whole, const Preprocessing& how, Random* augmentation) {
  const PictureSize scaled = scaled_size(whole, how);
  SamplePlace place{scaled, (scaled.height - how.height) / 2, (scaled.width - how.width) / 2};
  if (!augmentation) return place;
  if (how.random_crop || how.padding > 0) {
    const int64_t pad = how.padding;
    auto draw = [&](int64_t slack) {
      return static_cast<int64_t>(augmentation->below(static_cast<uint64_t>(slack) + 1)) - pad;
    };
    place.top = draw(scaled.height - how.height + 2 * pad);
    place.left = draw(scaled.width - how.width + 2 * pad);
  }
  if (how.flip) place.mirrored = augmentation->next() >> 31;
  return place;
}

void cut_sample(const Picture& original, const SamplePlace& place, int height, int width,
                uint8_t* out) {
  const PictureSize scaled = place.scaled;
  const Overlap rows(place.top, height, scaled.height), columns(place.left, width, scaled.width);
  ResizeWindows windows = whole_windows(original, scaled);
  const bool same = windows.rows.extent == static_cast<double>(scaled.height) &&
                    windows.columns.extent == static_cast<double>(scaled.width);
  Picture resized;
  if (!same && rows.count > 0 && columns.count > 0) {
    windows.rows.first = place.top + rows.before;
    windows.rows.count = rows.count;
    windows.columns.first = place.left + columns.before;
    windows.columns.count = columns.count;
    resized = resize_part(original, windows);
  }
  const Picture& picture = same ? original : resized;
  const auto first_row = static_cast<size_t>(same ? place.top + rows.before : 0);
  const auto first_column = static_cast<size_t>(same ? place.left + columns.before : 0);
  const int channels = original.channels;
  for (int c = 0; c < channels; ++c)
    for (int y = 0; y < height; ++y, out += width) {
      const int from_y = y - rows.before;
      if (from_y < 0 || from_y >= rows.count || columns.count == 0) {
        std::fill_n(out, width, uint8_t{0});
        continue;
      }
      const uint8_t* in =
          picture.pixels.data() +
          ((first_row + static_cast<size_t>(from_y)) * picture.width + first_column) * channels + c;
      const int end = columns.before + columns.count;
      std::fill_n(out, columns.before, uint8_t{0});
      for (int x = columns.before; x < end; ++x) out[x] = in[(x - columns.before) * channels];
      std::fill(out + end, out + width, uint8_t{0});
      if (place.mirrored) std::reverse(out, out + width);
    }
}

void prepare_sample(const Picture& picture, const Preprocessing& how, Random* augmentation,
                    uint8_t* out) {
  check(picture, how);
  const SamplePlace place = place_sample(whole_size(picture), how, augmentation);
  cut_sample(picture, place, how.height, how.width, out);
}

}  // namespace kaiseki::nn
