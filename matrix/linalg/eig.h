// SPDX-License-Identifier: MIT
// Eigenvalues and eigenvectors of general matrices. f32 or f64.
#pragma once

#include "matrix/linalg/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Complex numbers as two tensors of one shape.
struct ComplexPair {
  Tensor real, imaginary;
};

struct EigResult {
  ComplexPair values;   // [..., n]; in no fixed order, conjugates beside each other
  ComplexPair vectors;  // [..., n, n]; column i is the eigenvector of value i, with norm 1
};

/// a v = value v for the columns v of the vectors, for a [..., n, n]. Throws ShapeError. Throws
/// LinearAlgebraError for NaN or infinite elements, or if the iteration does not converge.
EigResult eig(const Tensor& a);

}  // namespace kaiseki
