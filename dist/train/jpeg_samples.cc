// SPDX-License-Identifier: MIT
#include "dist/train/jpeg_samples.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "matrix/threads.h"
#include "nn/data/picture.h"

namespace kaiseki::dist {

namespace {

constexpr int64_t kSmallestSide = 64;
constexpr int kQuality = 90;
constexpr int kChannels = 3;
constexpr int64_t kMostValues =
    int64_t{1} << 28;  // 1 GiB of floats, as a small file may decode to a huge image
constexpr const char* kOneSize = "expected JPEGs of one size, got others";

nn::Picture picture_of(const uint8_t* planes, int height, int width) {
  nn::Picture picture{height, width, kChannels, {}};
  const size_t plane = static_cast<size_t>(height) * static_cast<size_t>(width);
  picture.pixels.resize(kChannels * plane);
  for (size_t c = 0; c < kChannels; ++c)
    for (size_t i = 0; i < plane; ++i) picture.pixels[kChannels * i + c] = planes[c * plane + i];
  return picture;
}

void to_planes(const nn::Picture& picture, uint8_t* planes) {
  const size_t plane = static_cast<size_t>(picture.height) * static_cast<size_t>(picture.width);
  for (size_t c = 0; c < kChannels; ++c)
    for (size_t i = 0; i < plane; ++i) planes[c * plane + i] = picture.pixels[kChannels * i + c];
}

[[noreturn]] void refuse(const char* what) { throw ParseError("samples", "jpeg", what); }

/// The file of each sample.
std::vector<ByteView> files_of(const JpegSamples& samples) {
  ByteView rest(reinterpret_cast<const std::byte*>(samples.files.data<uint8_t>()),
                static_cast<size_t>(samples.files.size()));
  const int32_t* sizes = samples.sizes.data<int32_t>();
  std::vector<ByteView> files;
  for (int64_t i = 0; i < samples.sizes.size(); ++i) {
    const auto size = static_cast<size_t>(sizes[i]);  // a negative size becomes too large
    if (size > rest.size()) break;
    files.push_back(rest.first(size));
    rest = rest.subspan(size);
  }
  if (files.empty() || static_cast<int64_t>(files.size()) < samples.sizes.size() || !rest.empty())
    refuse("expected one or more files with the given sizes, got other sizes");
  return files;
}

/// Checks from the headers that all files are JPEG of one size, before decoding allocates memory.
nn::PictureInfo info_of(const std::vector<ByteView>& files) {
  const nn::PictureInfo first = nn::picture_info(files[0], "samples");
  for (const ByteView file : files) {
    const nn::PictureInfo info = nn::picture_info(file, "samples");  // also reads PNG
    if (file[0] != std::byte{0xff} || info.height != first.height || info.width != first.width)
      refuse(kOneSize);
  }
  return first;
}

}  // namespace

std::optional<JpegSamples> to_jpeg(const Tensor& pixels) {
  const Shape& shape = pixels.shape();
  if (shape.rank() != 4 || shape[1] != kChannels || std::min(shape[2], shape[3]) < kSmallestSide ||
      std::max(shape[2], shape[3]) > nn::kMaxPictureSide || shape.elements() > kMostValues)
    return {};
  const auto height = static_cast<int>(shape[2]), width = static_cast<int>(shape[3]);
  std::vector<ByteVector> files(static_cast<size_t>(shape[0]));
  const uint8_t* planes = pixels.data<uint8_t>();
  parallel_for(shape[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      files[static_cast<size_t>(i)] = nn::encode_jpeg(
          picture_of(planes + i * kChannels * height * width, height, width), kQuality);
  });
  int64_t bytes = 0;
  for (const ByteVector& file : files) bytes += static_cast<int64_t>(file.size());
  if (bytes > pixels.size() / 2) return {};
  JpegSamples samples{Tensor({bytes}, DType::u8, Device::cpu()),
                      Tensor({shape[0]}, DType::i32, Device::cpu())};
  auto* out = reinterpret_cast<std::byte*>(samples.files.overwrite<uint8_t>());
  auto* size = samples.sizes.overwrite<int32_t>();
  for (const ByteVector& file : files) {
    out = std::copy(file.begin(), file.end(), out);
    *size++ = static_cast<int32_t>(file.size());
  }
  return samples;
}

Tensor from_jpeg(const JpegSamples& samples, uint64_t most_bytes) {
  const std::vector<ByteView> files = files_of(samples);
  const nn::PictureInfo first = info_of(files);
  const int64_t each = int64_t{kChannels} * first.height * first.width;
  const auto count = static_cast<int64_t>(files.size());
  if (count > kMostValues / each) refuse("expected at most 2^28 values in all, got more");
  if (static_cast<uint64_t>(count * each) > most_bytes / sizeof(float))
    refuse("expected images that fit into the ticket's memory, got larger ones");
  Tensor pixels({count, kChannels, first.height, first.width}, DType::u8, Device::cpu());
  auto* planes = pixels.overwrite<uint8_t>();
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const nn::Picture picture =
          nn::decode_picture_portable(files[static_cast<size_t>(i)], "samples", kChannels);
      if (static_cast<int64_t>(picture.pixels.size()) != each) refuse(kOneSize);
      to_planes(picture, planes + i * each);
    }
  });
  return pixels;
}

}  // namespace kaiseki::dist
