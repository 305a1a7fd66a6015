// SPDX-License-Identifier: MIT
// Random numbers: words of Philox, the same on every backend.
#include "matrix/backend/operations/random.h"

#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"

namespace kaiseki::opencl {

namespace {

void random(OpenclDevice& device, const RandomArgs& args) {
  int64_t n = args.output->size();
  if (n == 0) return;
  bool normal = args.kind == RandomArgs::Kind::normal;
  int64_t items = normal ? n : (n + static_cast<int64_t>(args.position % 4) + 3) / 4;
  Launch(device, "random.cl", "random", define("KIND", static_cast<int>(args.kind)))
      .index(n)
      .arg(args.a)
      .arg(args.b)
      .arg(args.seed)
      .arg(args.stream)
      .arg(args.position)
      .out(*args.output)
      .over(items);
}

void random_integers(OpenclDevice& device, const RandomIntegersArgs& args) {
  const int64_t n = args.output->size();
  Launch(device, "random.cl", "random_integers", define("KIND", 3))
      .index(n)
      .arg(args.low)
      .arg(args.range)
      .arg(args.seed)
      .arg(args.stream)
      .arg(args.position)
      .out(*args.output)
      .over(n);
}

}  // namespace

void add_random(OpenclKernels& kernels) {
  kernels.add(kRandom, random);
  kernels.add(kRandomIntegers, random_integers);
}

}  // namespace kaiseki::opencl
