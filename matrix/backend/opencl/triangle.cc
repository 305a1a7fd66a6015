// SPDX-License-Identifier: MIT
// Triangles of matrices.
#include "matrix/backend/operations/triangle.h"

#include "matrix/backend/opencl/element_types.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/opencl/text.h"

namespace kaiseki::opencl {
namespace {

void triangle(OpenclDevice& device, const TriangleArgs& args) {
  const int64_t items = args.input->size();
  Launch(device, "triangle.cl", "triangle",
         joined({define("UPPER", args.upper), " -DTYPE=", bits_name(args.input->dtype())}))
      .index(items)
      .index(args.rows)
      .index(args.columns)
      .index(args.diagonal)
      .in(*args.input)
      .out(*args.output)
      .over(items);
}

}  // namespace

void add_triangle(OpenclKernels& kernels) { kernels.add(kTriangle, triangle); }

}  // namespace kaiseki::opencl
