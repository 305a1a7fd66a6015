// SPDX-License-Identifier: MIT
// kaiseki bench
#include "cli/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_line.h"
#include "base/median.h"
#include "cli/commands.h"
#include "cli/for_option.h"
#include "cli/setup.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/random.h"
#include "matrix/threads.h"

namespace kaiseki::cli {
namespace {

Tensor random_tensor(const Shape& shape, Device device) {
  static Random random(1);
  Tensor t(shape, DType::f32, device);
  random_uniform_into(t, random, -1, 1);
  return t;
}

void print_case(const char* bench, const std::string& name, Device device, double seconds,
                double flops) {
  JsonLine line;
  line.add("bench", bench).add("case", name).add("device", device.name());
  line.add("threads", thread_count()).add("milliseconds", 1e3 * seconds);
  line.add("gflops", flops / seconds * 1e-9);
  std::printf("%s\n", line.str().c_str());
  std::fflush(stdout);
}

/// A trace is of one network.
void expect_one_case(const BenchCommand& c) {
  if (c.cases.size() != 1)
    throw Error(message("bench", "--trace: expected one network, got ", c.cases.size()));
}

ConvProblem parse_problem(const std::string& text) {
  ConvProblem p;
  int64_t unused = 0;
  size_t at = 0;
  while (at < text.size()) {
    const char key = text[at];
    char* end = nullptr;
    const int64_t value = std::strtoll(text.c_str() + at + 1, &end, 10);
    const size_t next = static_cast<size_t>(end - text.c_str());
    int64_t& field = key == 'n'   ? p.n
                     : key == 'c' ? p.c
                     : key == 'h' ? p.h
                     : key == 'w' ? p.w
                     : key == 'k' ? p.k
                     : key == 'r' ? p.r
                     : key == 's' ? p.s
                     : key == 'p' ? p.padding[0]
                     : key == 'u' ? p.stride[0]
                     : key == 'd' ? p.dilation[0]
                     : key == 'g' ? p.groups
                                  : unused;
    if (&field == &unused || next == at + 1 || value < 0)
      throw Error(message("bench", "expected a convolution such as n16c64h56w56k128r3s3p1, got '",
                          text, "'"));
    field = value;
    at = next;
  }
  if (p.n < 1 || p.c < 1 || p.h < 1 || p.w < 1 || p.k < 1 || p.r < 1 || p.s < 1)
    throw Error(
        message("bench", "expected numbers above 0 for n, c, h, w, k, r and s, got '", text, "'"));
  p.padding[1] = p.padding[0];
  p.stride[1] = p.stride[0];
  p.dilation[1] = p.dilation[0];
  return p;
}

}  // namespace

double median_seconds(Device device, int64_t repeat, double seconds,
                      const std::function<void()>& body) {
  auto time = [&](int64_t calls) {
    const double start = steady_seconds();
    for (int64_t i = 0; i < calls; ++i) body();
    device.synchronize();
    return (steady_seconds() - start) / static_cast<double>(calls);
  };
  time(1);
  const double one = std::max(1e-9, time(1));
  const int64_t calls = std::max<int64_t>(1, std::llround(seconds / one));
  std::vector<double> runs;
  for (int64_t i = 0; i < repeat; ++i) runs.push_back(time(calls));
  return median(runs);
}

void bench_gemm(const BenchCommand& c, Device device) {
  std::vector<std::string> cases = c.cases;
  if (cases.empty())
    cases = {"64x64x64",     "256x256x256",  "1000x1000x1000", "2048x2048x2048",
             "64x50176x576", "256x784x2304", "128x4096x9216"};
  for (const std::string& name : cases) {
    long long m = 0, n = 0, k = 0;
    int used = 0;
    if (std::sscanf(name.c_str(), "%lldx%lldx%lld%n", &m, &n, &k, &used) != 3 ||
        static_cast<size_t>(used) != name.size() || m < 1 || n < 1 || k < 1)
      throw Error(message(
          "bench", "expected a product MxNxK of numbers above 0, such as 1000x1000x1000, got '",
          name, "'"));
    const Tensor a = random_tensor({m, k}, device), b = random_tensor({k, n}, device);
    Tensor y({m, n}, DType::f32, device);
    const double seconds = median_seconds(device, c.repeat, c.seconds, [&] { gemm(a, b, y); });
    print_case("gemm", name, device, seconds, 2.0 * static_cast<double>(m) * n * k);
  }
}

void bench_conv(const BenchCommand& c, Device device) {
  std::vector<std::string> cases = c.cases;
  if (cases.empty())
    cases = {"n64c1h28w28k20r5s5", "n64c20h12w12k50r5s5", "n64c3h32w32k16r5s5p2",
             "n64c16h16w16k20r5s5p2", "n16c64h56w56k128r3s3p1"};
  for (const std::string& name : cases) {
    const ConvProblem p = parse_problem(name);
    Conv2d how;
    how.stride = p.stride;
    how.padding = p.padding;
    how.dilation = p.dilation;
    how.groups = p.groups;
    Tensor x = random_tensor({p.n, p.c, p.h, p.w}, device);
    Tensor filter = random_tensor({p.k, p.c / std::max<int64_t>(1, p.groups), p.r, p.s}, device);
    const double flops = conv_problem(x.shape(), filter.shape(), how).flops();
    Tensor y({p.n, p.k, p.out_h(), p.out_w()}, DType::f32, device);
    auto measure = [&](const char* direction, const std::function<void()>& body) {
      print_case("conv", name + "/" + direction, device,
                 median_seconds(device, c.repeat, c.seconds, body), flops);
    };
    measure("forward", [&] { conv2d_into(y, x, filter, how); });
    measure("backward_data", [&] { conv2d_backward_data_into(x, y, filter, how); });
    measure("backward_filter", [&] { conv2d_backward_filter_into(filter, x, y, how); });
  }
}

int run_command(const BenchCommand& c) {
  if (c.layers && c.what != "train")
    throw Error(message("bench", "--layers: expected the kind train, got ", c.what));
  if (!c.trace.empty()) {
    expect_one_case(c);
    expect_writable(c.trace);
  }
  const Device device = open_device(c.device);
  if (c.what == "gemm")
    bench_gemm(c, device);
  else if (c.what == "conv")
    bench_conv(c, device);
  else if (c.what == "data")
    bench_data(c);
  else
    bench_train(c, device);
  return 0;
}

}  // namespace kaiseki::cli
