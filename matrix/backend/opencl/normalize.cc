// SPDX-License-Identifier: MIT
#include "matrix/backend/operations/normalize.h"

#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"

namespace kaiseki::opencl {
namespace {

void normalize(OpenclDevice& device, const NormalizeArgs& args) {
  Launch(device, "normalize.cl", "normalize_bytes")
      .index(args.channels)
      .index(args.inner)
      .in(*args.input)
      .in(*args.table)
      .out(*args.output)
      .over(args.inner, args.n * args.channels);
}

}  // namespace

void add_normalize(OpenclKernels& kernels) { kernels.add(kNormalize, normalize); }

}  // namespace kaiseki::opencl
