// SPDX-License-Identifier: MIT
// Pictures of bytes: decoding of JPEG and PNG, and what makes a sample of a picture (resize, crop,
// flip, normalisation).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/random.h"
#include "matrix/tensor.h"
#include "nn/io/bytes.h"

namespace kaiseki::nn {

/// Pixels as they are decoded: [height, width, channels], 0..255, row-major.
struct Picture {
  int height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;
  /// Below 8 when this is whole_height x whole_width pixels, decoded with each side at that many
  /// eighths; the last row and column then stand for a part that may lie outside.
  int eighths = 8;
  int whole_height = 0, whole_width = 0;
};

struct PictureInfo {
  int height = 0, width = 0, channels = 0;
};

/// Longest side that is decoded.
inline constexpr int kMaxPictureSide = 16384;

/// The header only. Throws ParseError when it is no JPEG or PNG, or is too large.
PictureInfo picture_info(ByteView file, std::string_view source);
/// `channels` 1 or 3; 0 keeps grey as 1 and makes everything else 3. Throws ParseError.
Picture decode_picture(ByteView file, std::string_view source, int channels = 0);
/// What decodes JPEG: "libjpeg-turbo" or "stb_image".
const char* jpeg_decoder();
/// The same pixels on every machine and in every browser: by stb_image even where libjpeg-turbo is.
Picture decode_picture_alike(ByteView file, std::string_view source, int channels = 0);
ByteVector encode_png(const Picture& picture);
/// `quality` 1 to 100; up to 90 with half the resolution of colour.
ByteVector encode_jpeg(const Picture& picture, int quality);

/// How a picture becomes a sample. Deterministic parts apply always, random ones in training.
struct Preprocessing {
  int channels = 0;           // 1 or 3; 0: as the set has
  int height = 0, width = 0;  // of samples; 0: as the set has
  int resize = 0;             // scales the shorter side to this first; 0: just covers the sample
  int padding = 0;            // training: zeros around the picture, then a crop at random
  bool random_crop = false;   // training: the crop lies at random, not in the centre
  bool flip = false;          // training: half of the pictures are mirrored left to right
  std::vector<float> mean = {}, std = {};  // for each channel (or one for all), of values in 0..1
};

/// As decode_picture() with how.channels, but a JPEG that `how` scales down may come at a reduced
/// size, which is faster. The sides of `how` may be 0: then it comes as it is.
Picture decode_for(ByteView file, std::string_view source, const Preprocessing& how);

/// Writes [channels, height, width] floats: (pixel / 255 - mean) / std. `augmentation` null: no
/// random parts. All three sizes of `how` must be given. Throws ShapeError.
void prepare_sample(const Picture& picture, const Preprocessing& how, Random* augmentation,
                    float* out);

/// One sample of a file: f32 [1, channels, height, width]. Throws Error, ParseError.
Tensor read_picture(const std::filesystem::path& path, const Preprocessing& how);

/// Bilinear with the support of the scale (area-like when it shrinks).
Picture resize_picture(const Picture& picture, int height, int width);

}  // namespace kaiseki::nn
