// SPDX-License-Identifier: MIT
// Pictures of bytes: decodes JPEG and PNG, and cuts a sample from a picture (resize, crop, flip).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "matrix/random.h"
#include "matrix/tensor.h"

namespace kaiseki::nn {

/// Decoded pixels: [height, width, channels], 0..255, row-major.
struct Picture {
  int height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;
  /// The scale of decoding, in eighths. Below 8, the encoded picture has whole_height x whole_width
  /// pixels. The last row and column may then lie partly outside of it.
  int eighths = 8;
  int whole_height = 0, whole_width = 0;
};

struct PictureInfo {
  int height = 0, width = 0, channels = 0;
};

/// The longest side that is accepted.
inline constexpr int kMaxPictureSide = 16384;

/// Reads the header only. Throws ParseError if it is not a JPEG or PNG, or is too large.
PictureInfo picture_info(ByteView file, std::string_view source);
/// Turns the picture upright. `channels` is 1, 3 or 0. 0 decodes gray pictures to 1 channel and
/// others to 3. Throws ParseError.
Picture decode_picture(ByteView file, std::string_view source, int channels = 0);
/// The decoder of JPEG: "libjpeg-turbo" or "stb_image".
const char* jpeg_decoder();
/// Always decodes with stb_image, at full size, so every machine and browser gets the same pixels.
/// If `as_stored`, the picture is not turned.
Picture decode_picture_portable(ByteView file, std::string_view source, int channels,
                                bool as_stored);

/// How a sample is cut from a picture. Random parts apply in training only.
struct Preprocessing {
  int channels = 0;           // 1 or 3; 0: as in the data set
  int height = 0, width = 0;  // of samples; 0: as in the data set
  int resize = 0;             // resizes the shorter side to this; 0: to cover the sample
  int padding = 0;            // training: black around the picture, then a random crop
  bool random_crop = false;   // training: the crop is at a random position, not in the center
  bool as_stored = false;     // ignores the orientation that Exif states
  bool flip = false;          // training: half of the pictures are mirrored left to right
};

/// Decodes as decode_picture() with how.channels, and turns the picture as its Exif block says. If
/// `how` scales a JPEG down, it may be decoded at a reduced size, which is faster. If a side of
/// `how` is 0, the size is not reduced.
Picture decode_for(ByteView file, std::string_view source, const Preprocessing& how);

/// Writes [channels, height, width] bytes. If `augmentation` is null, there are no random parts.
/// `how` must have channels, height and width. Throws ShapeError.
void prepare_sample(const Picture& picture, const Preprocessing& how, Random* augmentation,
                    uint8_t* out);

/// Reads a file as one sample: u8 [1, channels, height, width]. Throws Error or ParseError.
Tensor read_picture(const std::string& path, const Preprocessing& how);

/// Bilinear. If the picture gets smaller, the filter is wider, so that all input pixels count.
Picture resize_picture(const Picture& picture, int height, int width);

}  // namespace kaiseki::nn
