// SPDX-License-Identifier: MIT
// Compares SGEMM of the CPU backend with oneDNN, OpenBLAS, BLIS and Eigen, in interleaved pairs.
// The environment makes each library detect this CPU correctly. Starts one process for each number
// of threads.
//   vs_blas [--threads 1,2] [--pairs 5] [--peers openblas,eigen] [MxNxK[:ta][:tb] ...]
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/median.h"
#include "bench/blas_peers.h"
#include "bench/report.h"
#include "matrix/backend/cpu/gemm.h"
#include "matrix/threads.h"

namespace kaiseki::bench {
namespace {

const char* const kDefaultCases =
    "64x64x64,128x128x128,256x256x256,512x512x512,1000x1000x1000,1024x1024x1024,2048x2048x2048,"
    "64x50176x576,256x784x2304,128x4096x9216";
constexpr double kWindow = 0.04;  // seconds for one side of a pair
constexpr auto kRest =
    std::chrono::milliseconds(30);  // lets the other side's spinning threads go to sleep

using Clock = std::chrono::steady_clock;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

GemmCase parse_case(const std::string& text) {
  GemmCase g{};
  if (std::sscanf(text.c_str(), "%ldx%ldx%ld", &g.m, &g.n, &g.k) != 3) {
    std::fprintf(stderr, "vs_blas: expected a case like 64x64x64:tb, got %s\n", text.c_str());
    std::exit(1);
  }
  g.trans_a = text.find(":ta") != std::string::npos;
  g.trans_b = text.find(":tb") != std::string::npos;
  return g;
}

GemmFn ours(const GemmCase& g) {
  return [g](const float* a, const float* b, float* c) {
    cpu::Gemm p;
    p.trans_a = g.trans_a, p.trans_b = g.trans_b, p.m = g.m, p.n = g.n, p.k = g.k;
    p.a = a, p.b = b, p.c = c, p.lda = g.lda(), p.ldb = g.ldb(), p.ldc = g.n;
    cpu::gemm(p);
  };
}

struct Operands {
  std::vector<float> a, b, c, other;

  explicit Operands(const GemmCase& g)
      : a(g.m * g.k), b(g.k * g.n), c(g.m * g.n), other(g.m * g.n) {
    std::mt19937 generator(1);
    for (float& v : a) v = static_cast<float>(generator() >> 8) * 0x1p-24f - 0.5f;
    for (float& v : b) v = static_cast<float>(generator() >> 8) * 0x1p-24f - 0.5f;
  }
};

/// The median seconds of one call within a window, after a pause and a warm-up.
double seconds(const GemmFn& f, const Operands& x, std::vector<float>& c) {
  std::this_thread::sleep_for(kRest);
  const auto call = [&] {
    const auto start = Clock::now();
    f(x.a.data(), x.b.data(), c.data());
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  for (double spent = call(); spent < kWindow / 4;) spent += call();
  std::vector<double> times;
  for (double spent = 0; spent < kWindow || times.size() < 3; spent += times.back())
    times.push_back(call());
  return median(times);
}

void check(const Operands& x, const GemmCase& g, const std::string& peer) {
  for (size_t i = 0; i < x.c.size(); ++i)
    if (!(std::abs(x.c[i] - x.other[i]) <= 1e-5f * static_cast<float>(g.k))) {
      std::fprintf(stderr, "vs_blas: element %zu is %g here and %g in %s\n", i, x.c[i], x.other[i],
                   peer.c_str());
      std::exit(1);
    }
}

void compare(const std::string& name, const BlasPeer& peer, Operands& x, int pairs) {
  const GemmCase g = parse_case(name);
  const GemmFn mine = ours(g), theirs = peer.prepare(g);
  Pairs figures;
  const double work = 2e-9 * g.m * g.n * g.k;
  for (int i = 0; i < pairs; ++i) {
    const double s = seconds(mine, x, x.c), t = seconds(theirs, x, x.other);
    figures.add_rates(work / s, work / t);
  }
  check(x, g, peer.name);
  figures.print("vs_blas", name, peer.name, "GFLOP/s");
}

struct Settings {
  std::string threads = "1,2", peers, cases = kDefaultCases;
  int pairs = 5;
};

void run(const Settings& s, int threads) {
  set_thread_count(threads);
  std::vector<BlasPeer> peers = {dnnl_sgemm_peer(), dnnl_matmul_peer(), openblas_peer(),
                                 blis_peer(), eigen_peer()};
  std::erase_if(peers, [&](const BlasPeer& p) {
    return !s.peers.empty() && s.peers.find(p.name) == std::string::npos;
  });
  for (const BlasPeer& p : peers)
    if (!p.prepare)
      std::fprintf(stderr, "vs_blas: %s is not compared: needs %s\n", p.name.c_str(),
                   p.missing.c_str());
  for (const std::string& name : split(s.cases, ',')) {
    Operands x(parse_case(name));
    for (const BlasPeer& p : peers)
      if (p.prepare) compare(name, p, x, s.pairs);
  }
}

/// The peers read these variables when they are loaded. Without them, Debian's OpenBLAS detects
/// newer CPUs as Prescott, and BLIS as Haswell.
void set_environment(int threads) {
  const std::string count = std::to_string(threads);
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"})
    setenv(name, count.c_str(), 1);
  if (__builtin_cpu_supports("avx512f")) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
    setenv("BLIS_ARCH_TYPE", "skx", 1);
  }
}

int run_in_child(char** argv, const std::string& threads) {
  const pid_t child = fork();
  if (child == 0) {
    set_environment(std::atoi(threads.c_str()));
    setenv("KAISEKI_BENCH_THREADS", threads.c_str(), 1);
    execv("/proc/self/exe", argv);
    std::perror("vs_blas: execv");
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

Settings parse(int argc, char** argv) {
  Settings s;
  std::string cases;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag.rfind("--", 0) != 0) {
      cases += (cases.empty() ? "" : ",") + flag;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : "";
    if (flag == "--threads")
      s.threads = value;
    else if (flag == "--peers")
      s.peers = value;
    else if (flag == "--pairs")
      s.pairs = std::max(1, std::atoi(value));
    else {
      std::printf(
          "usage: vs_blas [--threads 1,2] [--pairs 5] [--peers NAMES] [MxNxK[:ta][:tb] ...]\n");
      std::exit(flag == "--help" ? 0 : 1);
    }
  }
  if (!cases.empty()) s.cases = cases;
  return s;
}

}  // namespace
}  // namespace kaiseki::bench

int main(int argc, char** argv) {
  using namespace kaiseki::bench;
  const Settings settings = parse(argc, argv);
  if (const char* threads = std::getenv("KAISEKI_BENCH_THREADS")) {
    run(settings, std::atoi(threads));
    return 0;
  }
  int failed = 0;
  for (const std::string& threads : split(settings.threads, ','))
    failed |= run_in_child(argv, threads);
  return failed;
}
