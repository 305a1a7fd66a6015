// SPDX-License-Identifier: MIT
// Elements by index along one axis.
#include "matrix/backend/operations/index.h"

#include "matrix/backend/opencl/element_types.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/opencl/text.h"

namespace kaiseki::opencl {
namespace {

/// Runs a kernel of index.cl. Put and add_at change x in place.
void launch(OpenclDevice& device, const IndexArgs& args, std::string_view kernel, int64_t items,
            std::string_view type, bool in_place) {
  Launch launch(device, "index.cl", kernel,
                joined({define("SHARED", args.shared), " -DTYPE=", type}));
  launch.index(items).index(args.n).index(args.inner).index(args.count);
  launch.in(*args.indices).in(*args.from);
  (in_place ? launch.in_out(*args.to) : launch.out(*args.to)).over(items);
}

void take(OpenclDevice& device, const IndexArgs& args) {
  launch(device, args, "take", args.outer * args.count * args.inner, bits_name(args.from->dtype()),
         false);
}

void put(OpenclDevice& device, const IndexArgs& args) {
  launch(device, args, "put", args.outer * args.inner, bits_name(args.from->dtype()), true);
}

void add_at(OpenclDevice& device, const IndexArgs& args) {
  if (args.to->dtype() == DType::i32)
    launch(device, args, "add_integers_at", args.outer * args.count * args.inner, "int", true);
  else
    launch(device, args, "add_at", args.outer * args.inner, "float", true);
}

}  // namespace

void add_index(OpenclKernels& kernels) {
  kernels.add(kTake, take);
  kernels.add(kPut, put);
  kernels.add(kAddAt, add_at);
}

}  // namespace kaiseki::opencl
