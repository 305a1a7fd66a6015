// SPDX-License-Identifier: MIT
// The part of a picture that is a sample: the size to which the picture is resized, then the crop.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "matrix/random.h"
#include "nn/data/picture.h"

namespace kaiseki::nn {

struct PictureSize {
  int64_t height = 0, width = 0;
};

struct SamplePlace {
  PictureSize scaled = {};    // of the whole picture
  int64_t top = 0, left = 0;  // of the sample in it; may be negative
  bool mirrored = false;      // left to right, after the crop
};

/// A picture's file, and the part of the picture that is the sample.
struct SampleFile {
  ByteVector bytes;
  SamplePlace place;
  bool as_stored = false;  // the orientation in the file is ignored
};

/// Draws the random parts of `how` from `augmentation`. If it is null, the crop is in the center.
SamplePlace place_sample(PictureSize whole, const Preprocessing& how, Random* augmentation);

/// Writes the sample [channels, height, width] as bytes. A resized pixel is rounded once. Pixels
/// outside the picture are 0.
void cut_sample(const Picture& picture, const SamplePlace& place, int height, int width,
                uint8_t* out);

/// The size of a file's upright picture, from its header. Throws ParseError.
PictureSize upright_size(ByteView file, std::string_view source, bool as_stored);

}  // namespace kaiseki::nn
