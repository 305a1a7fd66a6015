// SPDX-License-Identifier: MIT
// Compares convolution of the CPU backend, in all three directions, with oneDNN in its own layouts,
// in interleaved pairs. Uses the faster of oneDNN's automatic and direct algorithms. Reports
// GFLOP/s, including padding.
//   vs_onednn [--threads 1,2] [--pairs 5] [--batch 16] [--directions forward,...] [NAME ...]
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dnnl.hpp>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/median.h"
#include "bench/report.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/random.h"
#include "matrix/threads.h"

namespace kaiseki::bench {
namespace {

constexpr double kWindow = 0.04;                       // minimum seconds for one side of a pair
constexpr auto kRest = std::chrono::milliseconds(30);  // lets the other side's threads go to sleep

struct Layer {
  const char* name;
  int times;  // number of layers of this shape in a network
  int64_t c, h, k, r, stride, padding, groups;
};

// The first 14 are layers of CaffeNet and VGG-16. They run by default.
constexpr int kGoal = 14;
constexpr Layer kLayers[] = {
    {"alexnet.conv1", 1, 3, 227, 96, 11, 4, 0, 1},  {"alexnet.conv2", 1, 96, 27, 256, 5, 1, 2, 2},
    {"alexnet.conv3", 1, 256, 13, 384, 3, 1, 1, 1}, {"alexnet.conv4", 1, 384, 13, 384, 3, 1, 1, 2},
    {"alexnet.conv5", 1, 384, 13, 256, 3, 1, 1, 2}, {"vgg.conv1_1", 1, 3, 224, 64, 3, 1, 1, 1},
    {"vgg.conv1_2", 1, 64, 224, 64, 3, 1, 1, 1},    {"vgg.conv2_1", 1, 64, 112, 128, 3, 1, 1, 1},
    {"vgg.conv2_2", 1, 128, 112, 128, 3, 1, 1, 1},  {"vgg.conv3_1", 1, 128, 56, 256, 3, 1, 1, 1},
    {"vgg.conv3_2", 2, 256, 56, 256, 3, 1, 1, 1},   {"vgg.conv4_1", 1, 256, 28, 512, 3, 1, 1, 1},
    {"vgg.conv4_2", 2, 512, 28, 512, 3, 1, 1, 1},   {"vgg.conv5_1", 3, 512, 14, 512, 3, 1, 1, 1},
    {"lenet.conv1", 1, 1, 28, 20, 5, 1, 0, 1},      {"lenet.conv2", 1, 20, 12, 50, 5, 1, 0, 1},
    {"cifar.conv1", 1, 3, 32, 16, 5, 1, 2, 1},      {"cifar.conv2", 1, 16, 16, 20, 5, 1, 2, 1},
    {"cifar.conv3", 1, 20, 8, 20, 5, 1, 2, 1},      {"resnet.conv1", 1, 3, 224, 64, 7, 2, 3, 1},
    {"resnet.3x3@56", 3, 64, 56, 64, 3, 1, 1, 1},   {"resnet.3x3@28", 3, 128, 28, 128, 3, 1, 1, 1},
    {"resnet.3x3@14", 5, 256, 14, 256, 3, 1, 1, 1}, {"resnet.3x3@7", 2, 512, 7, 512, 3, 1, 1, 1},
    {"resnet.3x3s2", 1, 128, 56, 128, 3, 2, 1, 1},  {"resnet.1x1", 1, 256, 14, 1024, 1, 1, 0, 1},
};
constexpr auto kAuto = dnnl::algorithm::convolution_auto;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;
constexpr const char* kDirections[] = {"forward", "backward_data", "backward_filter"};

Tensor random_tensor(const Shape& shape) {
  static Random random(1);
  Tensor t(shape, DType::f32, Device::cpu());
  random_uniform_into(t, random, -1, 1);
  return t;
}

/// Kaiseki's three directions, with their own tensors.
class Ours {
 public:
  Ours(const Layer& l, int64_t n)
      : conv_{{l.stride, l.stride}, {l.padding, l.padding}, {1, 1}, l.groups},
        x_(random_tensor({n, l.c, l.h, l.h})),
        filter_(random_tensor({l.k, l.c / l.groups, l.r, l.r})) {
    problem_ = conv_problem(x_.shape(), filter_.shape(), conv_);
    y_ = random_tensor({n, l.k, problem_.out_h(), problem_.out_w()});
  }
  const ConvProblem& problem() const { return problem_; }
  void run(int direction) {
    // Marks the weights as changed, as in training. Transformed filters are then not reused.
    filter_.mutable_data<float>();
    if (direction == 0) conv2d_into(y_, x_, filter_, conv_);
    if (direction == 1) conv2d_backward_data_into(x_, y_, filter_, conv_);
    if (direction == 2) conv2d_backward_filter_into(filter_, x_, y_, conv_);
  }

 private:
  Conv2d conv_;
  Tensor x_, filter_, y_;
  ConvProblem problem_;
};

/// One primitive of oneDNN with its own memory.
struct Theirs {
  std::string implementation;
  std::function<void()> run;
};

Theirs onednn(const ConvProblem& p, int direction, dnnl::algorithm algorithm) {
  using dnnl::memory;
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  const auto describe = [](const memory::dims& dims) {
    return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
  };
  const auto x = describe({p.n, p.c, p.h, p.w}), y = describe({p.n, p.k, p.out_h(), p.out_w()});
  const auto filter = p.groups == 1
                          ? describe({p.k, p.c, p.r, p.s})
                          : describe({p.groups, p.k / p.groups, p.c / p.groups, p.r, p.s});
  const memory::dims stride{p.stride[0], p.stride[1]}, padding{p.padding[0], p.padding[1]};
  const auto execute = [&](auto primitive, const auto& desc,
                           const std::vector<std::pair<int, memory::desc>>& used) {
    std::unordered_map<int, memory> arguments;
    for (const auto& [name, layout] : used) {
      memory m(layout, engine);
      std::fill_n(static_cast<char*>(m.get_data_handle()), layout.get_size(), 0);
      arguments.emplace(name, m);
    }
    return Theirs{desc.impl_info_str(), [=] {
                    primitive.execute(stream, arguments);
                    stream.wait();
                  }};
  };
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, x, filter, y, stride, padding, padding},
      engine);
  if (direction == 0)
    return execute(dnnl::convolution_forward(forward), forward,
                   {{DNNL_ARG_SRC, forward.src_desc()},
                    {DNNL_ARG_WEIGHTS, forward.weights_desc()},
                    {DNNL_ARG_DST, forward.dst_desc()}});
  if (direction == 1) {
    const dnnl::convolution_backward_data::primitive_desc back(
        {algorithm, x, filter, y, stride, padding, padding}, engine, forward);
    return execute(dnnl::convolution_backward_data(back), back,
                   {{DNNL_ARG_DIFF_SRC, back.diff_src_desc()},
                    {DNNL_ARG_WEIGHTS, back.weights_desc()},
                    {DNNL_ARG_DIFF_DST, back.diff_dst_desc()}});
  }
  const dnnl::convolution_backward_weights::primitive_desc back(
      {algorithm, x, filter, y, stride, padding, padding}, engine, forward);
  return execute(dnnl::convolution_backward_weights(back), back,
                 {{DNNL_ARG_SRC, back.src_desc()},
                  {DNNL_ARG_DIFF_WEIGHTS, back.diff_weights_desc()},
                  {DNNL_ARG_DIFF_DST, back.diff_dst_desc()}});
}

/// The time of the fastest call. Other calls include disturbances by other work of the machine.
double seconds(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  std::this_thread::sleep_for(kRest);
  call();
  std::vector<double> times;
  for (double spent = 0; spent < kWindow; spent += times.back()) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return *std::min_element(times.begin(), times.end());
}

void print(const std::string& name, const std::string& peer, double ours, double theirs,
           double ratio) {
  print_case("vs_onednn", name, peer, ours, theirs, "GFLOP/s", ratio);
}

/// Geometric means over layers, and the worst layer.
class Summary {
 public:
  void add(const std::string& name, int times, double ours, double theirs, double ratio) {
    count_ += times;
    ours_ += times * std::log(ours), theirs_ += times * std::log(theirs);
    ratio_ += times * std::log(ratio);
    if (ratio < least_) least_ = ratio, worst_ = name, least_ours_ = ours, least_theirs_ = theirs;
  }
  void print() const {
    if (count_ == 0) return;
    bench::print("geometric mean", "onednn", std::exp(ours_ / count_), std::exp(theirs_ / count_),
                 std::exp(ratio_ / count_));
    bench::print("worst: " + worst_, "onednn", least_ours_, least_theirs_, least_);
  }

 private:
  int count_ = 0;
  double ours_ = 0, theirs_ = 0, ratio_ = 0;
  double least_ = std::numeric_limits<double>::infinity(), least_ours_ = 0, least_theirs_ = 0;
  std::string worst_;
};

struct Peer {
  const char* name;
  Theirs theirs;
  std::vector<double> rates{}, ratios{};
};

void compare(const Layer& layer, int64_t batch, int direction, int pairs, Summary& summary) {
  Ours ours(layer, batch);
  std::vector<Peer> peers;
  peers.push_back({"onednn auto", onednn(ours.problem(), direction, kAuto)});
  Theirs direct = onednn(ours.problem(), direction, kDirect);
  if (direct.implementation != peers[0].theirs.implementation)
    peers.push_back({"onednn direct", std::move(direct)});
  const double work = ours.problem().flops() * 1e-9;
  std::vector<double> rates;
  for (int i = 0; i < pairs; ++i)
    for (Peer& peer : peers) {
      const double mine = seconds([&] { ours.run(direction); });
      const double other = seconds(peer.theirs.run);
      rates.push_back(work / mine);
      peer.rates.push_back(work / other), peer.ratios.push_back(other / mine);
    }
  const Peer& best =
      *std::ranges::max_element(peers, {}, [](const Peer& peer) { return median(peer.rates); });
  const std::string name = std::string(layer.name) + ' ' + kDirections[direction];
  const double mine = median(rates), other = median(best.rates), ratio = median(best.ratios);
  print(name, best.name, mine, other, ratio);
  summary.add(name, layer.times, mine, other, ratio);
}

/// Returns whether `text` starts with one of the names, which are separated by commas.
bool named(const std::string& names, const std::string& text) {
  std::istringstream all(names);
  for (std::string name; std::getline(all, name, ',');)
    if (!name.empty() && text.starts_with(name)) return true;
  return false;
}

}  // namespace
}  // namespace kaiseki::bench

int main(int argc, char** argv) {
  using namespace kaiseki::bench;
  std::string threads = "1,2", names, directions = "forward,backward_data,backward_filter";
  int pairs = 5, batch = 16;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--threads" && i + 1 < argc) {
      threads = argv[++i];
    } else if (argument == "--pairs" && i + 1 < argc) {
      pairs = std::max(1, std::atoi(argv[++i]));
    } else if (argument == "--batch" && i + 1 < argc) {
      batch = std::max(1, std::atoi(argv[++i]));
    } else if (argument == "--directions" && i + 1 < argc) {
      directions = argv[++i];
    } else if (argument.starts_with("-")) {
      std::printf(
          "usage: vs_onednn [--threads 1,2] [--pairs 5] [--batch 16] [--directions forward,"
          "backward_data,backward_filter] [NAME ...]\n");
      return argument == "--help" ? 0 : 1;
    } else {
      names += argument + ",";
    }
  }
  std::istringstream counts(threads);
  for (std::string count; std::getline(counts, count, ',');) {
    const int number = std::max(1, std::atoi(count.c_str()));
    kaiseki::set_thread_count(number);
    omp_set_num_threads(number);
    Summary summary;
    for (int i = 0; i < static_cast<int>(std::size(kLayers)); ++i)
      if (names.empty() ? i < kGoal : named(names, kLayers[i].name))
        for (int direction = 0; direction < 3; ++direction)
          if (named(directions, kDirections[direction]))
            compare(kLayers[i], batch, direction, pairs, summary);
    summary.print();
  }
}
