// SPDX-License-Identifier: MIT
// Maximum and average pooling.
#include "matrix/backend/opencl/backend.h"
#include "matrix/backend/opencl/launch.h"

namespace kaiseki::opencl {
namespace {

std::string options(const PoolArgs& args) {
  return define("WINDOW_H", args.window[0]) + define("WINDOW_W", args.window[1]) +
         define("STRIDE_H", args.stride[0]) + define("STRIDE_W", args.stride[1]) +
         define("PAD_H", args.padding[0]) + define("PAD_W", args.padding[1]) +
         define("COUNT_PADDING", args.count_padding);
}

Launch start(OpenclDevice& device, const PoolArgs& args, std::string_view kernel, int64_t total) {
  Launch launch(device, "pool.cl", kernel, options(args));
  launch.index(total)
      .arg(static_cast<int32_t>(args.in_h))
      .arg(static_cast<int32_t>(args.in_w))
      .arg(static_cast<int32_t>(args.out_h))
      .arg(static_cast<int32_t>(args.out_w));
  return launch;
}

}  // namespace

void OpenclBackend::pool_forward(const PoolArgs& args) {
  int64_t total = args.planes * args.out_h * args.out_w;
  if (total == 0) return;
  Launch launch = start(device_, args, args.maximum ? "max_pool" : "average_pool", total);
  launch.in(*args.x).out(*args.y);
  if (args.maximum) launch.out(*args.indices);
  launch.over(total);
}

void OpenclBackend::pool_backward(const PoolArgs& args) {
  int64_t total = args.planes * args.in_h * args.in_w;
  if (total == 0) return;
  Launch launch =
      start(device_, args, args.maximum ? "max_pool_backward" : "average_pool_backward", total);
  launch.in(*args.dy);
  if (args.maximum) launch.in(*args.indices);
  launch.out(*args.dx).over(total);
}

}  // namespace kaiseki::opencl
