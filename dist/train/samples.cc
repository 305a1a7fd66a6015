// SPDX-License-Identifier: MIT
#include "dist/train/samples.h"

#include "base/error.h"
#include "dist/train/file_samples.h"
#include "matrix/ops/normalize.h"

namespace kaiseki::dist {
namespace {

Tensor list(const std::vector<float>& values) {
  return Tensor::from(std::span<const float>(values), {static_cast<int64_t>(values.size())},
                      Device::cpu());
}

Shape sample_of(const Tensor& images) {
  Shape sample;
  for (int axis = 1; axis < images.rank(); ++axis) sample.push_back(images.dim(axis));
  return sample;
}

}  // namespace

ByteVector pack_samples(const Samples& samples, std::span<const nn::SampleFile> files) {
  const Tensor images = samples.images.contiguous();
  const auto& [mean, std] = samples.normalization;
  check_normalization(mean, std, sample_of(images), "samples");
  std::vector<WireTensor> tensors;
  if (can_send(files, images))
    tensors = wire_tensors(files, images.shape());
  else
    tensors = {{"samples", images, WireType::u8}};
  if (!mean.empty()) tensors.push_back({"mean", list(mean)});
  if (!std.empty()) tensors.push_back({"std", list(std)});
  return encode_tensors(tensors);
}

Samples unpack_samples(ByteView blob, uint64_t most_bytes) {
  const TensorMessage message = decode_tensors(blob, "samples");
  Samples samples;
  FileSamples files;
  for (const auto& [name, value] : message.tensors) {
    if (name == "samples") samples.images = value;
    if (name == "files" && value.dtype() == DType::u8) files.bytes = value;
    if (name == "sizes" && value.dtype() == DType::i32) files.sizes = value;
    if (name == "places" && value.dtype() == DType::i32) files.places = value;
    if (name == "shape" && value.dtype() == DType::i32) files.shape = value;
    if (name == "mean" && value.dtype() == DType::f32)
      samples.normalization.mean = value.to_vector();
    if (name == "std" && value.dtype() == DType::f32) samples.normalization.std = value.to_vector();
  }
  if (files.complete()) samples.images = decode_files(files, most_bytes);
  const Tensor& images = samples.images;
  if (!images.defined())
    throw ParseError("samples", "samples",
                     "expected the tensor samples, or files, sizes, places and shape, got neither");
  if (images.rank() < 1 || images.dtype() != DType::u8)
    throw ParseError("samples", "samples",
                     "expected bytes of samples, got " + std::string(dtype_name(images.dtype())) +
                         " " + images.shape().str());
  if (static_cast<uint64_t>(images.size()) > most_bytes / sizeof(float))
    throw ParseError("samples", "samples",
                     "the images do not fit into the ticket's memory, which has " +
                         std::to_string(most_bytes) + " bytes");
  const auto& [mean, std] = samples.normalization;
  try {
    check_normalization(mean, std, sample_of(images), "samples");
  } catch (const ShapeError& error) {
    throw ParseError("samples", "mean", error.what());
  }
  return samples;
}

}  // namespace kaiseki::dist
