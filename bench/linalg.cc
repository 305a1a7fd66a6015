// SPDX-License-Identifier: MIT
// Decompositions against OpenBLAS's LAPACK, f32: linalg [n...]. Prints the times and the
// ratio of the peer's time to ours, for 1 and 2 threads. The runs alternate, so that both see the
// same clock of the processor.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/report.h"
#include "matrix/linalg/cholesky.h"
#include "matrix/linalg/eig.h"
#include "matrix/linalg/eigh.h"
#include "matrix/linalg/qr.h"
#include "matrix/linalg/solve.h"
#include "matrix/linalg/svd.h"
#include "matrix/random.h"
#include "matrix/threads.h"

namespace {

using namespace kaiseki;
using Floats = std::vector<float>;

class Lapack {
 public:
  Lapack() {
    // OpenBLAS takes some processors for older ones. This variable names the AVX-512 kernels.
    if (__builtin_cpu_supports("avx512f")) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    handle_ = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  }
  bool found() const { return handle_ != nullptr; }
  /// Calls a Fortran subroutine or another C function. All arguments are pointers.
  template <typename... Args>
  void call(const char* name, Args... args) const {
    void* symbol = dlsym(handle_, name);
    if (!symbol) {
      std::fprintf(stderr, "linalg: libopenblas.so.0 has no %s\n", name);
      std::exit(1);
    }
    reinterpret_cast<void (*)(Args...)>(symbol)(args...);
  }

 private:
  void* handle_;
};

/// A routine with a workspace, which is asked for its size first.
template <typename Call>
void with_workspace(const Call& call) {
  Floats work(1);
  std::vector<int> integers(1);
  int query = -1;
  call(work.data(), &query, integers.data(), &query);
  int size = static_cast<int>(work[0]), count = std::max(1, integers[0]);
  work.resize(static_cast<size_t>(size));
  integers.resize(static_cast<size_t>(count));
  call(work.data(), &size, integers.data(), &count);
}

struct LinalgCase {
  const char* name;
  std::function<void()> ours, peer;
};

Tensor random_normal(int n, bool symmetric) {
  Random random(1);
  Floats values(static_cast<size_t>(n) * n);
  for (float& v : values) v = random.normal();
  for (int i = 0; i < n && symmetric; ++i)
    for (int j = 0; j < i; ++j) values[i * n + j] = values[j * n + i];
  return Tensor::from(std::span<const float>(values), {n, n}, Device::cpu());
}

std::vector<LinalgCase> cases(const Lapack& lapack, int n) {
  const Tensor general = random_normal(n, false), symmetric = random_normal(n, true);
  Tensor definite = symmetric.clone();
  for (int i = 0; i < n; ++i)
    definite.mutable_data<float>()[i * n + i] += 4 * std::sqrt(static_cast<float>(n));
  const Tensor side = general.slice(0, 0, 1).reshape({n}).clone();
  const auto copy = [](const Tensor& t) { return t.to_vector(); };
  return {
      {"solve", [=] { solve(general, side); },
       [=, &lapack] {
         Floats a = copy(general), b = copy(side);
         std::vector<int> pivots(static_cast<size_t>(n));
         int size = n, one = 1, info = 0;
         lapack.call("sgesv_", &size, &one, a.data(), &size, pivots.data(), b.data(), &size, &info);
       }},
      {"cholesky", [=] { cholesky(definite); },
       [=, &lapack] {
         Floats a = copy(definite);
         int size = n, info = 0;
         lapack.call("spotrf_", "L", &size, a.data(), &size, &info);
       }},
      {"qr", [=] { qr(general); },
       [=, &lapack] {
         Floats a = copy(general), tau(static_cast<size_t>(n));
         int size = n, info = 0;
         with_workspace([&](float* work, int* count, int*, int*) {
           lapack.call("sgeqrf_", &size, &size, a.data(), &size, tau.data(), work, count, &info);
         });
         with_workspace([&](float* work, int* count, int*, int*) {
           lapack.call("sorgqr_", &size, &size, &size, a.data(), &size, tau.data(), work, count,
                       &info);
         });
       }},
      {"eigh", [=] { eigh(symmetric); },
       [=, &lapack] {
         Floats a = copy(symmetric), values(static_cast<size_t>(n));
         int size = n, info = 0;
         with_workspace([&](float* work, int* count, int* integers, int* integer_count) {
           lapack.call("ssyevd_", "V", "L", &size, a.data(), &size, values.data(), work, count,
                       integers, integer_count, &info);
         });
       }},
      {"svd", [=] { svd(general); },
       [=, &lapack] {
         Floats a = copy(general), s(static_cast<size_t>(n)), u(a.size()), vt(a.size());
         std::vector<int> integers(static_cast<size_t>(8 * n));
         int size = n, info = 0;
         with_workspace([&](float* work, int* count, int*, int*) {
           lapack.call("sgesdd_", "S", &size, &size, a.data(), &size, s.data(), u.data(), &size,
                       vt.data(), &size, work, count, integers.data(), &info);
         });
       }},
      {"eig", [=] { eig(general); },
       [=, &lapack] {
         Floats a = copy(general), real(static_cast<size_t>(n)), imaginary(real), vectors(a.size());
         int size = n, one = 1, info = 0;
         float none = 0;
         with_workspace([&](float* work, int* count, int*, int*) {
           lapack.call("sgeev_", "N", "V", &size, a.data(), &size, real.data(), imaginary.data(),
                       &none, &one, vectors.data(), &size, work, count, &info);
         });
       }},
  };
}

double seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void compare(const LinalgCase& c, int n) {
  bench::Pairs pairs;
  double spent = seconds(c.ours) + seconds(c.peer);
  do {
    const double ours = seconds(c.ours), theirs = seconds(c.peer);
    pairs.add_times(1e3 * ours, 1e3 * theirs);
    spent += ours + theirs;
  } while (pairs.ours.size() < 3 || (pairs.ours.size() < 15 && spent < 3));
  pairs.print("linalg", std::string(c.name) + ' ' + std::to_string(n), "openblas", "ms");
}

}  // namespace

int main(int argc, char** argv) {
  const Lapack lapack;
  if (!lapack.found()) {
    std::fprintf(stderr, "linalg: the peer is missing: apt-get install libopenblas0-pthread\n");
    return 1;
  }
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::max(1, std::atoi(argv[i])));
  if (sizes.empty()) sizes = {100, 1000, 2000};
  for (int threads : {1, 2})
    for (int n : sizes) {
      set_thread_count(threads);
      lapack.call("openblas_set_num_threads", threads);
      for (const LinalgCase& c : cases(lapack, n)) compare(c, n);
    }
}
