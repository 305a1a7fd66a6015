// SPDX-License-Identifier: MIT
#include "dist/node/speed.h"

#include "base/clock.h"
#include "matrix/ops/conv.h"

namespace kaiseki::dist {

double measure_gflops(Device device, double seconds, const std::function<bool()>& stop) {
  constexpr int64_t kBatch = 32, kChannels = 32, kSize = 28, kFilter = 3;
  constexpr double kWork =
      2.0 * kBatch * (kSize * kSize) * (kChannels * kChannels) * (kFilter * kFilter);
  const Shape images = {kBatch, kChannels, kSize, kSize};
  const Tensor x = Tensor::full(images, 1, device);
  const Tensor filter = Tensor::full({kChannels, kChannels, kFilter, kFilter}, 1, device);
  Tensor y = Tensor::zeros(images, DType::f32, device);
  const auto once = [&] {
    conv2d_into(y, x, filter, {.padding = {1, 1}});
    device.synchronize();
  };
  once();
  const double start = steady_seconds();
  double work = 0, elapsed = 0;
  do {
    once();
    work += kWork;
    elapsed = steady_seconds() - start;
  } while (elapsed < seconds && !stop());
  return work / elapsed * 1e-9;
}

}  // namespace kaiseki::dist
