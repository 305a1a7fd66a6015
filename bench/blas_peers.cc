// SPDX-License-Identifier: MIT
// OpenBLAS and BLIS, loaded at run time so that both can be in one process.
#include "bench/blas_peers.h"

#include <dlfcn.h>

namespace kaiseki::bench {
namespace {

BlasPeer cblas_peer(const char* name, const char* library, const char* package) {
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!handle) return {name, std::string("apt-get install ") + package, {}};
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(handle, "cblas_sgemm"));
  if (!sgemm) return {name, std::string("a cblas_sgemm in ") + library, {}};
  return {name, "", [sgemm](const GemmCase& g) -> GemmFn {
            return [sgemm, g](const float* a, const float* b, float* c) {
              sgemm(kRowMajor, g.trans_a ? kTransposed : kPlain, g.trans_b ? kTransposed : kPlain,
                    g.m, g.n, g.k, 1, a, g.lda(), b, g.ldb(), 0, c, g.n);
            };
          }};
}

}  // namespace

BlasPeer openblas_peer() {
  return cblas_peer("openblas", "libopenblas.so.0", "libopenblas0-pthread");
}

BlasPeer blis_peer() { return cblas_peer("blis", "libblis.so.4", "libblis4-openmp"); }

}  // namespace kaiseki::bench
