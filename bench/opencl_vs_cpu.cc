// SPDX-License-Identifier: MIT
// Compares SGEMM of the OpenCL backend's own kernels with the CPU backend, in interleaved pairs.
// On PoCL both use the same number of threads. Starts one process for each number of threads.
//   opencl_vs_cpu [--threads 1,2] [--pairs 5] [--device 0] [MxNxK ...]
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "base/median.h"
#include "bench/report.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/registry.h"
#include "matrix/ops/gemm.h"
#include "matrix/threads.h"

namespace kaiseki::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<int> threads = {1, 2};
  int pairs = 5, device = 0;
  std::vector<std::string> cases;
};

struct Product {
  Tensor a, b, c;
  Product(int64_t m, int64_t n, int64_t k, Device device)
      : a(Tensor::full(Shape{m, k}, 0.5f, device)),
        b(Tensor::full(Shape{k, n}, 0.25f, device)),
        c(Shape{m, n}, DType::f32, device) {}

  /// The median seconds of one product, measured for at least 0.1 s.
  double seconds() {
    std::vector<double> times;
    for (double total = 0; total < 0.1; total += times.back()) {
      auto start = Clock::now();
      gemm(a, b, c);
      c.device().synchronize();
      times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return median(times);
  }
};

void run_case(const std::string& text, const Options& options) {
  long m = 0, n = 0, k = 0;
  if (std::sscanf(text.c_str(), "%ldx%ldx%ld", &m, &n, &k) != 3) {
    std::fprintf(stderr, "opencl_vs_cpu: expected a case like 64x64x64, got %s\n", text.c_str());
    std::exit(1);
  }
  Product cpu(m, n, k, Device::cpu()), opencl(m, n, k, Device::opencl(options.device));
  cpu.seconds();
  opencl.seconds();
  double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  Pairs pairs;
  for (int i = 0; i < options.pairs; ++i) {
    const double theirs = cpu.seconds();
    pairs.add_rates(flops / opencl.seconds() * 1e-9, flops / theirs * 1e-9);
  }
  pairs.print("opencl_vs_cpu", text, "kaiseki cpu", "GFLOP/s");
}

std::vector<int> numbers(const std::string& text) {
  std::vector<int> values;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) values.push_back(std::stoi(part));
  return values;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    bool has_value = i + 1 < argc;
    if (text == "--threads" && has_value)
      options.threads = numbers(argv[++i]);
    else if (text == "--pairs" && has_value)
      options.pairs = std::stoi(argv[++i]);
    else if (text == "--device" && has_value)
      options.device = std::stoi(argv[++i]);
    else
      options.cases.push_back(text);
  }
  if (options.cases.empty()) options.cases = {"1000x1000x1000", "2048x2048x2048"};
  return options;
}

int run_threads(int threads, const Options& options) {
  const BackendEntry& opencl = find_backend("opencl");
  if (opencl.devices().empty()) {
    std::fprintf(stderr, "opencl_vs_cpu: %s\n", opencl.problem().c_str());
    return 1;
  }
  set_thread_count(threads);
  for (auto& text : options.cases) run_case(text, options);
  return 0;
}

}  // namespace
}  // namespace kaiseki::bench

int main(int argc, char** argv) {
  auto options = kaiseki::bench::parse(argc, argv);
  int failed = 0;
  for (int threads : options.threads) {
    pid_t child = fork();
    if (child == 0) {
      setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(threads).c_str(), 1);
      return kaiseki::bench::run_threads(threads, options);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failed |= status;
  }
  return failed ? 1 : 0;
}
