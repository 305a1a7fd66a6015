// SPDX-License-Identifier: MIT
// Maximum and average pooling.
#include "matrix/backend/operations/pooling.h"

#include <array>

#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/opencl/rows.h"

namespace kaiseki::opencl {
namespace {

std::string options(const PoolingArgs& args) {
  return define("WINDOW_H", args.window[0]) + define("WINDOW_W", args.window[1]) +
         define("STRIDE_H", args.stride[0]) + define("STRIDE_W", args.stride[1]) +
         define("PAD_H", args.padding[0]) + define("PAD_W", args.padding[1]) +
         define("COUNT_PADDING", args.count_padding);
}

/// The number of results per work-item of the kernel for 2 x 2 windows.
int64_t lanes(const PoolingArgs& args) {
  constexpr std::array<int64_t, 2> two = {2, 2}, none = {0, 0};
  bool inside = 2 * args.out_h <= args.in_h && 2 * args.out_w <= args.in_w;
  if (args.window != two || args.stride != two || args.padding != none || !inside) return 0;
  for (int64_t n : {16, 8, 4})
    if (args.out_w % n == 0) return n;
  return args.out_w >= 8 ? 8 : 0;
}

Rows rows_of(const PoolingArgs& args) {
  return {args.in_w, args.out_w, args.stride[1], args.padding[1], args.window[1]};
}

/// On CPUs each work-item takes a plane, on GPUs one element of the result.
class PoolingLaunch {
 public:
  PoolingLaunch(OpenclDevice& device, const PoolingArgs& args, const std::string& kernel,
                int64_t results)
      : planes_(device.style() == Style::cpu && fits_private_memory(rows_of(args))),
        items_(planes_ ? args.planes : results),
        launch_(device, planes_ ? "pooling_planes.cl" : "pooling.cl",
                planes_ ? kernel + "_planes" : kernel,
                options(args) + (planes_ ? define("LANES", lanes(args)) + row_options(rows_of(args))
                                         : std::string())) {
    launch_.index(items_)
        .arg(static_cast<int32_t>(args.in_h))
        .arg(static_cast<int32_t>(args.in_w))
        .arg(static_cast<int32_t>(args.out_h))
        .arg(static_cast<int32_t>(args.out_w));
  }
  Launch& arguments() { return launch_; }
  void run() {
    if (planes_)
      launch_.over_groups({static_cast<size_t>(items_), 1, 1}, {1, 1, 1});
    else
      launch_.over(items_);
  }

 private:
  bool planes_;
  int64_t items_;
  Launch launch_;
};

void pooling_forward(OpenclDevice& device, const PoolingArgs& args) {
  int64_t total = args.planes * args.out_h * args.out_w;
  if (total == 0) return;
  PoolingLaunch launch(device, args, args.maximum ? "max_pool" : "average_pool", total);
  launch.arguments().in(*args.x).out(*args.y);
  if (args.maximum) launch.arguments().out(*args.indices);
  launch.run();
}

void pooling_backward(OpenclDevice& device, const PoolingArgs& args) {
  int64_t total = args.planes * args.in_h * args.in_w;
  if (total == 0) return;
  PoolingLaunch launch(device, args, args.maximum ? "max_pool_backward" : "average_pool_backward",
                       total);
  launch.arguments().in(*args.dy);
  if (args.maximum) launch.arguments().in(*args.indices);
  launch.arguments().out(*args.dx);
  launch.run();
}

}  // namespace

void add_pooling(OpenclKernels& kernels) {
  kernels.add(kPoolingForward, pooling_forward);
  kernels.add(kPoolingBackward, pooling_backward);
}

}  // namespace kaiseki::opencl
