// SPDX-License-Identifier: MIT
#include "dist/train/file_samples.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "matrix/threads.h"

namespace kaiseki::dist {
namespace {

using nn::SampleFile;

constexpr int64_t kMostPixels = int64_t{1} << 19;  // of a file; decoding needs 16 MiB at most
constexpr int64_t kMostValues = int64_t{1} << 28;  // of all samples
constexpr int64_t kMostPlace = int64_t{1} << 30;
constexpr int64_t kPlaceValues = 6;

bool is_place(const nn::SamplePlace& place) {
  return std::min(place.scaled.height, place.scaled.width) > 0 &&
         std::max({place.scaled.height, place.scaled.width, std::abs(place.top),
                   std::abs(place.left)}) <= kMostPlace;
}

int64_t pixels_of(ByteView file) {
  const nn::PictureInfo info = nn::picture_info(file, "samples");
  return int64_t{info.height} * info.width;
}

[[noreturn]] void refuse(const char* where, const std::string& what) {
  throw ParseError("samples", where, what);
}

std::string text_of(const std::vector<int32_t>& values) {
  std::string text;
  for (const int32_t value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
  return text;
}

/// Views of the files, which lie one after the other.
std::vector<ByteView> files_of(const FileSamples& samples) {
  ByteView rest(reinterpret_cast<const std::byte*>(samples.bytes.data<uint8_t>()),
                static_cast<size_t>(samples.bytes.size()));
  const int32_t* sizes = samples.sizes.data<int32_t>();
  std::vector<ByteView> files;
  for (int64_t i = 0; i < samples.sizes.size(); ++i) {
    const auto size = static_cast<size_t>(sizes[i]);  // a negative size becomes too large
    if (size > rest.size()) break;
    files.push_back(rest.first(size));
    rest = rest.subspan(size);
  }
  if (files.empty() || static_cast<int64_t>(files.size()) < samples.sizes.size() || !rest.empty())
    refuse("sizes", "the sizes are not those of one or more files");
  return files;
}

/// [count, channels, height, width]
Shape shape_of(const FileSamples& samples, int64_t count, uint64_t most_bytes) {
  const std::vector<int32_t> sample = samples.shape.to_vector<int32_t>();
  if (sample.size() != 3 || (sample[0] != 1 && sample[0] != 3) ||
      std::min(sample[1], sample[2]) < 1 || std::max(sample[1], sample[2]) > nn::kMaxPictureSide)
    refuse("shape", "expected 1 or 3 channels, a height and a width, got " + text_of(sample));
  const Shape shape = {count, sample[0], sample[1], sample[2]};
  const int64_t each = shape.elements() / count;
  if (count > kMostValues / each)
    refuse("files", "expected at most 2^28 values in all, got " + std::to_string(count) +
                        " samples of " + std::to_string(each));
  if (static_cast<uint64_t>(count * each) > most_bytes / sizeof(float))
    refuse("files", "the images do not fit into the ticket's memory, which has " +
                        std::to_string(most_bytes) + " bytes");
  return shape;
}

nn::SamplePlace place_of(const int32_t* values) {
  const nn::SamplePlace place{{values[0], values[1]}, values[2], values[3], values[4] != 0};
  if (!is_place(place))
    refuse("places", "expected a height and a width above 0 and no number beyond " +
                         std::to_string(kMostPlace) + ", got " +
                         text_of({values, values + kPlaceValues}));
  return place;
}

}  // namespace

bool can_send(std::span<const SampleFile> files, const Tensor& images) {
  if (files.empty()) return false;
  int64_t bytes = 0;
  for (const SampleFile& file : files) {
    bytes += static_cast<int64_t>(file.bytes.size());
    if (bytes >= images.size() || !is_place(file.place) || pixels_of(file.bytes) > kMostPixels)
      return false;
  }
  return images.size() <= kMostValues;
}

std::vector<WireTensor> wire_tensors(std::span<const SampleFile> files, const Shape& images) {
  const auto count = static_cast<int64_t>(files.size());
  int64_t total = 0;
  for (const SampleFile& file : files) total += static_cast<int64_t>(file.bytes.size());
  Tensor bytes({total}, DType::u8, Device::cpu()), sizes({count}, DType::i32, Device::cpu()),
      places({count, kPlaceValues}, DType::i32, Device::cpu()),
      shape({3}, DType::i32, Device::cpu());
  auto* out = reinterpret_cast<std::byte*>(bytes.overwrite<uint8_t>());
  int32_t *size = sizes.overwrite<int32_t>(), *at = places.overwrite<int32_t>();
  for (const SampleFile& file : files) {
    out = std::copy(file.bytes.begin(), file.bytes.end(), out);
    *size++ = static_cast<int32_t>(file.bytes.size());
    const nn::SamplePlace& place = file.place;
    for (const int64_t value : {place.scaled.height, place.scaled.width, place.top, place.left,
                                int64_t{place.mirrored}, int64_t{file.as_stored}})
      *at++ = static_cast<int32_t>(value);
  }
  std::transform(images.begin() + 1, images.end(), shape.overwrite<int32_t>(),
                 [](int64_t dim) { return static_cast<int32_t>(dim); });
  return {{"files", bytes, WireType::u8},
          {"sizes", sizes, WireType::i32},
          {"places", places, WireType::i32},
          {"shape", shape, WireType::i32}};
}

Tensor decode_files(const FileSamples& samples, uint64_t most_bytes) {
  const std::vector<ByteView> files = files_of(samples);
  const auto count = static_cast<int64_t>(files.size());
  if (samples.places.shape() != Shape{count, kPlaceValues})
    refuse("places",
           "expected six values for each file, got the shape " + samples.places.shape().str());
  const Shape shape = shape_of(samples, count, most_bytes);
  for (const ByteView file : files)
    if (const int64_t pixels = pixels_of(file); pixels > kMostPixels)
      refuse("files",
             "expected pictures of at most 2^19 pixels, got one of " + std::to_string(pixels));
  const int64_t each = shape.elements() / count;
  const auto channels = static_cast<int>(shape[1]), height = static_cast<int>(shape[2]),
             width = static_cast<int>(shape[3]);
  Tensor images(shape, DType::u8, Device::cpu());
  uint8_t* out = images.overwrite<uint8_t>();
  const int32_t* places = samples.places.data<int32_t>();
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int32_t* values = places + i * kPlaceValues;
      const nn::Picture picture = nn::decode_picture_portable(files[static_cast<size_t>(i)],
                                                              "samples", channels, values[5] != 0);
      nn::cut_sample(picture, place_of(values), height, width, out + i * each);
    }
  });
  return images;
}

}  // namespace kaiseki::dist
