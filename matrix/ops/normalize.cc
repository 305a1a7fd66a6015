// SPDX-License-Identifier: MIT
#include "matrix/ops/normalize.h"

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/normalize.h"
#include "matrix/ops/check.h"

namespace kaiseki {
namespace {

constexpr int64_t kValues = 256;  // of a byte

float for_channel(std::span<const float> values, int64_t channel, float otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

}  // namespace

void check_normalization(std::span<const float> mean, std::span<const float> std, int64_t channels,
                         std::string_view operation) {
  for (const std::span<const float> values : {mean, std})
    require(values.size() <= 1 || static_cast<int64_t>(values.size()) == channels, operation,
            "expected a mean and std for each of ", channels, " channels, got ", values.size());
  for (const float value : std)
    require(value > 0, operation, "expected a std above 0, got ", value);
}

Tensor normalize(const Tensor& x, std::span<const float> mean, std::span<const float> std) {
  check_tensor(x, "x", "normalize", DType::u8);
  require(x.rank() >= 1, "normalize", "expected x of shape [n, channels, ...], got ", x.shape());
  check_normalization(mean, std, x.rank() > 1 ? x.dim(1) : 1, "normalize");
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
  run_operation(kNormalize, out, args);
  return out;
}

}  // namespace kaiseki
