// SPDX-License-Identifier: MIT
// oneDNN's BLAS-like sgemm and its matmul primitive.
#include <dnnl.h>

#include <dnnl.hpp>

#include "bench/blas_peers.h"

namespace kaiseki::bench {
namespace {

dnnl::memory::desc matrix(int64_t rows, int64_t columns, bool transposed) {
  using Tag = dnnl::memory::format_tag;
  return {{rows, columns}, dnnl::memory::data_type::f32, transposed ? Tag::ba : Tag::ab};
}

GemmFn prepare_matmul(const GemmCase& g) {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  const auto a = matrix(g.m, g.k, g.trans_a), b = matrix(g.k, g.n, g.trans_b);
  const auto c = matrix(g.m, g.n, false);
  const dnnl::matmul matmul({dnnl::matmul::desc(a, b, c), engine});
  return [=](const float* x, const float* y, float* z) {
    matmul.execute(stream, {{DNNL_ARG_SRC, dnnl::memory(a, engine, const_cast<float*>(x))},
                            {DNNL_ARG_WEIGHTS, dnnl::memory(b, engine, const_cast<float*>(y))},
                            {DNNL_ARG_DST, dnnl::memory(c, engine, z)}});
    stream.wait();
  };
}

}  // namespace

BlasPeer dnnl_sgemm_peer() {
  return {"onednn sgemm", "", [](const GemmCase& g) -> GemmFn {
            return [g](const float* a, const float* b, float* c) {
              dnnl_sgemm(g.trans_a ? 'T' : 'N', g.trans_b ? 'T' : 'N', g.m, g.n, g.k, 1, a, g.lda(),
                         b, g.ldb(), 0, c, g.n);
            };
          }};
}

BlasPeer dnnl_matmul_peer() { return {"onednn matmul", "", prepare_matmul}; }

}  // namespace kaiseki::bench
