// SPDX-License-Identifier: MIT
#include "dist/train/samples.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "dist/train/jpeg_samples.h"
#include "nn/io/tensor_bytes.h"

namespace kaiseki::dist {
namespace {

float for_channel(const std::vector<float>& values, int64_t channel, float otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

/// Returns the same bits as prepare_sample().
std::array<float, 256> floats_of_bytes(const Normalisation& how, int64_t channel) {
  std::array<float, 256> table;
  const float mean = for_channel(how.mean, channel, 0), std = for_channel(how.std, channel, 1);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = (static_cast<float>(i) / 255.0f - mean) / std;
  return table;
}

/// Calls body(table, first element, count) for each channel of each sample.
template <typename Body>
void for_planes(const Shape& shape, const Normalisation& how, const Body& body) {
  const int64_t channels = shape.rank() > 2 ? shape[1] : 1;
  const int64_t plane = shape.elements() / (shape[0] * channels);
  for (int64_t c = 0; c < channels; ++c) {
    const std::array<float, 256> table = floats_of_bytes(how, c);
    for (int64_t n = 0; n < shape[0]; ++n) body(table, (n * channels + c) * plane, plane);
  }
}

/// Returns false if a value is not the float of a byte.
bool to_bytes(const Tensor& images, const Normalisation& how, uint8_t* out) {
  const float* in = images.data<float>();
  bool exact = true;
  for_planes(images.shape(), how, [&](const auto& table, int64_t first, int64_t count) {
    const float step = table[1] - table[0];
    for (int64_t i = first; exact && i < first + count; ++i) {
      const float place = std::clamp(std::round((in[i] - table[0]) / step), 0.0f, 255.0f);
      out[i] = static_cast<uint8_t>(place >= 0 ? place : 0);
      exact = table[out[i]] == in[i];
    }
  });
  return exact;
}

Tensor list(const std::vector<float>& values) {
  return Tensor::from(std::span<const float>(values), {static_cast<int64_t>(values.size())},
                      Device::cpu());
}

bool fits(const std::vector<float>& values, const Shape& images) {
  return values.size() <= 1 ||
         (images.rank() > 2 && static_cast<int64_t>(values.size()) == images[1]);
}

}  // namespace

ByteVector pack_samples(const Tensor& given, const Normalisation& how, bool jpeg) {
  const Tensor images = nn::for_file(given);
  require(fits(how.mean, images.shape()) && fits(how.std, images.shape()), "samples",
          "expected one mean and std, or as many as channels, got ", how.mean.size(), " and ",
          how.std.size(), " for ", images.shape());
  Tensor bytes(images.shape(), DType::u8, Device::cpu());
  if (!to_bytes(images, how, bytes.overwrite<uint8_t>()))
    return encode_tensors(std::vector<WireTensor>{{"samples", images}});
  std::vector<WireTensor> tensors;
  const std::optional<JpegSamples> files = jpeg ? to_jpeg(bytes) : std::nullopt;
  if (files)
    tensors = {{"jpeg", files->files, WireType::u8}, {"sizes", files->sizes, WireType::i32}};
  else
    tensors = {{"samples", bytes, WireType::u8}};
  if (!how.mean.empty()) tensors.push_back({"mean", list(how.mean)});
  if (!how.std.empty()) tensors.push_back({"std", list(how.std)});
  return encode_tensors(tensors);
}

Tensor unpack_samples(ByteView blob, uint64_t most_bytes) {
  const TensorMessage message = decode_tensors(blob, "samples");
  Normalisation how;
  Tensor samples;
  JpegSamples files;
  for (const auto& [name, value] : message.tensors) {
    if (name == "samples") samples = value;
    if (name == "jpeg" && value.dtype() == DType::u8) files.files = value;
    if (name == "sizes" && value.dtype() == DType::i32) files.sizes = value;
    if (name == "mean" && value.dtype() == DType::f32) how.mean = value.to_vector();
    if (name == "std" && value.dtype() == DType::f32) how.std = value.to_vector();
  }
  if (files.files.defined() && files.sizes.defined()) samples = from_jpeg(files, most_bytes);
  if (!samples.defined() || samples.rank() < 1 || !fits(how.mean, samples.shape()) ||
      !fits(how.std, samples.shape()) || samples.dtype() == DType::i32)
    throw ParseError("samples", "samples",
                     "expected bytes or floats of samples, got something else");
  if (samples.dtype() == DType::f32) return samples;
  Tensor floats(samples.shape(), DType::f32, Device::cpu());
  const uint8_t* in = samples.data<uint8_t>();
  float* out = floats.overwrite<float>();
  for_planes(samples.shape(), how, [&](const auto& table, int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) out[i] = table[in[i]];
  });
  return floats;
}

}  // namespace kaiseki::dist
