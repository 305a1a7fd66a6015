// SPDX-License-Identifier: MIT
// Conversions between f64 and other types.
#include "matrix/backend/operations/cast.h"

#include "matrix/backend/opencl/element_types.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/opencl/text.h"

namespace kaiseki::opencl {
namespace {

std::string_view rule(DType to) {
  if (to == DType::boolean) return " -DBOOL";
  return to == DType::i32 || to == DType::u8 ? " -DINTEGER" : "";
}

void cast(OpenclDevice& device, const CastArgs& args) {
  const DType from = args.input->dtype(), to = args.output->dtype();
  Launch(device, "cast.cl", "cast",
         joined({"-DFROM=", type_name(from), " -DTO=", type_name(to), rule(to)}))
      .index(args.input->size())
      .in(*args.input)
      .out(*args.output)
      .over(args.input->size());
}

}  // namespace

void add_cast(OpenclKernels& kernels) { kernels.add(kCast, cast); }

}  // namespace kaiseki::opencl
