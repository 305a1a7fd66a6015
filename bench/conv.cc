// SPDX-License-Identifier: MIT
// Convolution of the CPU backend, all three directions, against oneDNN's direct convolution with
// plain (nchw) and with its own blocked layouts, in interleaved pairs. GFLOP/s, padding counted.
//   conv [--threads 1,2] [--pairs 5] [NAME ...]
#include "matrix/ops/conv.h"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dnnl.hpp>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "matrix/ops/random.h"
#include "matrix/threads.h"

namespace kaiseki::bench {
namespace {

constexpr double kWindow = 0.04;                       // seconds of one side of a pair
constexpr auto kRest = std::chrono::milliseconds(30);  // the other side's threads go to sleep

struct Layer {
  const char* name;
  int64_t n, c, h, k, r, stride, padding;
};

constexpr Layer kLayers[] = {
    {"lenet.conv1", 64, 1, 28, 20, 5, 1, 0},    {"lenet.conv2", 64, 20, 12, 50, 5, 1, 0},
    {"cifar.conv1", 64, 3, 32, 16, 5, 1, 2},    {"cifar.conv2", 64, 16, 16, 20, 5, 1, 2},
    {"cifar.conv3", 64, 20, 8, 20, 5, 1, 2},    {"alexnet.conv1", 8, 3, 224, 64, 11, 4, 2},
    {"alexnet.conv2", 8, 64, 27, 192, 5, 1, 2}, {"alexnet.conv3", 8, 192, 13, 384, 3, 1, 1},
    {"vgg.conv1_2", 2, 64, 224, 64, 3, 1, 1},   {"vgg.conv4_2", 2, 512, 28, 512, 3, 1, 1},
    {"resnet.3x3s2", 8, 128, 56, 128, 3, 2, 1}, {"resnet.1x1", 8, 256, 14, 1024, 1, 1, 0},
    {"resnet.3x3@7", 8, 512, 7, 512, 3, 1, 1},
};
constexpr const char* kDirections[] = {"forward", "backward_data", "backward_filter"};

Tensor random_tensor(const Shape& shape) {
  static Random random(1);
  Tensor t(shape, DType::f32, Device::cpu());
  random_uniform(t, random, -1, 1);
  return t;
}

/// Our three directions on tensors of their own.
class Ours {
 public:
  explicit Ours(const Layer& l)
      : conv_{{l.stride, l.stride}, {l.padding, l.padding}},
        x_(random_tensor({l.n, l.c, l.h, l.h})),
        filter_(random_tensor({l.k, l.c, l.r, l.r})) {
    problem_ = conv_problem(x_.shape(), filter_.shape(), conv_);
    y_ = random_tensor({l.n, l.k, problem_.out_h(), problem_.out_w()});
  }
  const ConvProblem& problem() const { return problem_; }
  void run(int direction) {
    if (direction == 0) conv2d(x_, filter_, nullptr, conv_, y_);
    if (direction == 1) conv2d_backward_data(y_, filter_, conv_, x_);
    if (direction == 2) conv2d_backward_filter(x_, y_, conv_, filter_);
  }

 private:
  Conv2d conv_;
  Tensor x_, filter_, y_;
  ConvProblem problem_;
};

std::function<void()> dnnl_convolution(const ConvProblem& p, int direction, bool blocked) {
  using dnnl::memory;
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  const auto describe = [&](memory::dims dims, bool filter) {
    const auto plain = filter ? memory::format_tag::oihw : memory::format_tag::nchw;
    return memory::desc(dims, memory::data_type::f32, blocked ? memory::format_tag::any : plain);
  };
  const auto x = describe({p.n, p.c, p.h, p.w}, false);
  const auto filter = describe({p.k, p.c, p.r, p.s}, true);
  const auto y = describe({p.n, p.k, p.out_h(), p.out_w()}, false);
  const memory::dims stride{p.stride[0], p.stride[1]}, padding{p.padding[0], p.padding[1]};
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, kDirect, x, filter, y, stride, padding, padding}, engine);
  const auto execute = [&](dnnl::primitive primitive,
                           std::vector<std::pair<int, memory::desc>> used) {
    std::unordered_map<int, memory> arguments;
    for (const auto& [name, desc] : used) {
      memory m(desc, engine);
      std::fill_n(static_cast<char*>(m.get_data_handle()), desc.get_size(), 0);
      arguments.emplace(name, m);
    }
    return [=] {
      primitive.execute(stream, arguments);
      stream.wait();
    };
  };
  if (direction == 0)
    return execute(dnnl::convolution_forward(forward), {{DNNL_ARG_SRC, forward.src_desc()},
                                                        {DNNL_ARG_WEIGHTS, forward.weights_desc()},
                                                        {DNNL_ARG_DST, forward.dst_desc()}});
  if (direction == 1) {
    const dnnl::convolution_backward_data::primitive_desc back(
        {kDirect, x, filter, y, stride, padding, padding}, engine, forward);
    return execute(dnnl::convolution_backward_data(back),
                   {{DNNL_ARG_DIFF_SRC, back.diff_src_desc()},
                    {DNNL_ARG_WEIGHTS, back.weights_desc()},
                    {DNNL_ARG_DIFF_DST, back.diff_dst_desc()}});
  }
  const dnnl::convolution_backward_weights::primitive_desc back(
      {kDirect, x, filter, y, stride, padding, padding}, engine, forward);
  return execute(dnnl::convolution_backward_weights(back),
                 {{DNNL_ARG_SRC, back.src_desc()},
                  {DNNL_ARG_DIFF_WEIGHTS, back.diff_weights_desc()},
                  {DNNL_ARG_DIFF_DST, back.diff_dst_desc()}});
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Of the fastest call: the others also saw what else the machine does.
double seconds(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  std::this_thread::sleep_for(kRest);
  call();
  std::vector<double> times;
  for (double spent = 0; spent < kWindow || times.size() < 3; spent += times.back()) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return *std::min_element(times.begin(), times.end());
}

void compare(const Layer& layer, int direction, bool blocked, int threads, int pairs) {
  Ours ours(layer);
  const auto mine = [&] { ours.run(direction); };
  const auto theirs = dnnl_convolution(ours.problem(), direction, blocked);
  const double work = ours.problem().flops() * 1e-9;
  std::vector<double> rates, their_rates, ratios;
  for (int i = 0; i < pairs; ++i) {
    const double s = seconds(mine), t = seconds(theirs);
    rates.push_back(work / s), their_rates.push_back(work / t), ratios.push_back(t / s);
  }
  const char* format =
      isatty(STDOUT_FILENO)
          ? "%-13s %-15s %-14s %d threads  ours %6.1f  theirs %6.1f GFLOP/s  ratio %.2f\n"
          : "{\"bench\":\"conv\",\"case\":\"%s %s\",\"peer\":\"%s\",\"threads\":%d,\"ours\":%.2f,"
            "\"theirs\":%.2f,\"unit\":\"GFLOP/s\",\"ratio\":%.3f}\n";
  std::printf(format, layer.name, kDirections[direction],
              blocked ? "onednn blocked" : "onednn nchw", threads, median(rates),
              median(their_rates), median(ratios));
  std::fflush(stdout);
}

}  // namespace
}  // namespace kaiseki::bench

int main(int argc, char** argv) {
  using namespace kaiseki::bench;
  std::string threads = "1,2", names;
  int pairs = 5;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--threads" && i + 1 < argc) {
      threads = argv[++i];
    } else if (argument == "--pairs" && i + 1 < argc) {
      pairs = std::max(1, std::atoi(argv[++i]));
    } else if (argument.starts_with("-")) {
      std::printf("usage: conv [--threads 1,2] [--pairs 5] [NAME ...]\n");
      return argument == "--help" ? 0 : 1;
    } else {
      names += argument + " ";
    }
  }
  std::istringstream counts(threads);
  for (std::string count; std::getline(counts, count, ',');) {
    const int number = std::max(1, std::atoi(count.c_str()));
    kaiseki::set_thread_count(number);
    omp_set_num_threads(number);
    for (const Layer& layer : kLayers) {
      if (!names.empty() && names.find(layer.name) == std::string::npos) continue;
      for (int direction = 0; direction < 3; ++direction)
        for (bool blocked : {true, false}) compare(layer, direction, blocked, number, pairs);
    }
  }
}
