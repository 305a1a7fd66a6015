// SPDX-License-Identifier: MIT
// Eigen's matrix product. The build uses this machine's instruction set and OpenMP.
#include <Eigen/Dense>

#include "bench/blas_peers.h"

namespace kaiseki::bench {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Input = Eigen::Map<const RowMajor>;

}  // namespace

BlasPeer eigen_peer() {
  return {"eigen", "", [](const GemmCase& g) -> GemmFn {
            return [g](const float* a, const float* b, float* c) {
              const Input left(a, g.trans_a ? g.k : g.m, g.lda());
              const Input right(b, g.trans_b ? g.n : g.k, g.ldb());
              Eigen::Map<RowMajor> out(c, g.m, g.n);
              if (g.trans_a && g.trans_b)
                out.noalias() = left.transpose() * right.transpose();
              else if (g.trans_a)
                out.noalias() = left.transpose() * right;
              else if (g.trans_b)
                out.noalias() = left * right.transpose();
              else
                out.noalias() = left * right;
            };
          }};
}

}  // namespace kaiseki::bench
