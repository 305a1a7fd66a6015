// SPDX-License-Identifier: MIT
#include "matrix/ops/normalize.h"

#include <vector>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/normalize.h"
#include "matrix/ops/check.h"
#include "matrix/ops/elementwise.h"
#include "matrix/out_of_core/divide.h"

namespace kaiseki {
namespace {

constexpr int64_t kValues = 256;  // of a byte

float for_channel(std::span<const float> values, int64_t channel, float otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

Shape sample_of(const Tensor& x) {
  Shape sample;
  for (int axis = 1; axis < x.rank(); ++axis) sample.push_back(x.dim(axis));
  return sample;
}

int64_t channels_of(const Shape& sample) { return sample.rank() > 0 ? sample[0] : 1; }

/// Subtracts a mean image. A division would not have the same bits on all devices.
Tensor normalize_by_image(const Tensor& x, std::span<const float> mean,
                          std::span<const float> std) {
  Shape image = x.shape();
  image[0] = 1;
  const Tensor center = Tensor::from(mean, image, Device::cpu()).to(x.device());
  std::vector<float> scales;
  for (const float value : std) scales.push_back(1 / value);
  if (scales.empty()) scales.push_back(1);
  Shape along = image;
  for (int axis = scales.size() == 1 ? 1 : 2; axis < along.rank(); ++axis) along[axis] = 1;
  const Tensor scale =
      Tensor::from(std::span<const float>(scales), along, Device::cpu()).to(x.device());
  return elementwise("(x - m) * s", {{"x", normalize(x, {}, {})}, {"m", center}, {"s", scale}});
}

}  // namespace

void check_normalization(std::span<const float> mean, std::span<const float> std,
                         const Shape& sample, std::string_view operation) {
  const int64_t channels = channels_of(sample);
  const auto means = static_cast<int64_t>(mean.size()), stds = static_cast<int64_t>(std.size());
  require(means <= 1 || means == channels || means == sample.elements(), operation,
          "expected a mean for each of ", channels, " channels, or a mean image of shape ", sample,
          ", got ", means, " values");
  require(stds <= 1 || stds == channels, operation, "expected a std for each of ", channels,
          " channels, got ", stds);
  for (const float value : std)
    require(value > 0, operation, "expected a std above 0, got ", value);
}

Tensor normalize(const Tensor& x, std::span<const float> mean, std::span<const float> std) {
  check_tensor(x, "x", "normalize", DType::u8);
  require(x.rank() >= 1, "normalize", "expected x of shape [n, channels, ...], got ", x.shape());
  const Shape sample = sample_of(x);
  check_normalization(mean, std, sample, "normalize");
  if (mean.size() > 1 && static_cast<int64_t>(mean.size()) != channels_of(sample))
    return normalize_by_image(x, mean, std);
  const int64_t channels = mean.size() > 1 || std.size() > 1 ? x.dim(1) : 1;  // with own tables
  Tensor out(x.shape(), DType::f32, x.device());
  if (out.size() == 0) return out;
  Tensor table({channels, kValues}, DType::f32, Device::cpu());
  float* values = table.overwrite<float>();
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < kValues; ++i)
      *values++ =
          (static_cast<float>(i) / 255.0f - for_channel(mean, c, 0)) / for_channel(std, c, 1);
  const Tensor input = x.contiguous(), on_device = table.to(x.device());
  NormalizeArgs args{};
  args.n = x.dim(0);
  args.channels = channels;
  args.inner = x.size() / (args.n * channels);
  args.input = &input;
  args.table = &on_device;
  args.output = &out;
  run_divisible(kNormalize, out, args);
  return out;
}

}  // namespace kaiseki
