// SPDX-License-Identifier: MIT
// Networks and convolutions that do not fit the device. Compares their time with the time on a
// device with enough memory. Also compares it with the bound: the longer of computing and copying.
//   out_of_core [--device opencl] [--parts 2,4,8] [--link GB/s] train NETWORK:BATCH ...
//   out_of_core [--device opencl] [--parts 2,4,8] [--link GB/s] conv N,C,H,W,K ...
//   out_of_core [--device opencl] [--parts 2,4,8] [--link GB/s] fuse N,C,H,W,K ...
//   out_of_core [--device opencl] [--parts 2,4,8] [--link GB/s] search N,C,H,W,K ...
// PARTS are the divisors of the memory that the case needs in core. With --link, the CPU is the
// device, and its tensors go over a link of this rate in each direction. `fuse` compares a
// convolution with bias and ReLU in one pass and in three. With --trace FILE, one more run of each
// case and part is timed, and the times of its queues are printed. FILE has the last timeline. With
// --recompute, plans assume a very slow link. The backward pass then computes as much again as it
// can. `train` also compares with smaller minibatches that fit in core and whose gradients are
// added. `search` compares the predicted time of the chosen pieces with that of the best size. It
// also compares it with that of the paper's search along one axis at a time.
#include "matrix/memory/out_of_core.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/timeline.h"
#include "bench/random_pictures.h"
#include "bench/report.h"
#include "matrix/ceil_div.h"
#include "matrix/conv/out_of_core/split.h"
#include "matrix/cost/rates.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/out_of_core/size.h"
#include "nn/train/updater.h"
#include "tests/matrix/conv/out_of_core/all_pieces.h"
#include "tests/support/simulated_link.h"

namespace kaiseki::bench {
namespace {

constexpr int kRounds = 3;

double seconds_of(Device device, const std::function<void()>& work) {
  device.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  work();
  device.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream list(text);
  for (std::string part; std::getline(list, part, separator);) parts.push_back(part);
  return parts;
}

LinkRates measure_link(Device device) {
  Tensor tensor({int64_t{64} << 20}, DType::f32, device);
  const auto bytes = static_cast<double>(tensor.bytes());
  LinkRates rates;
  for (int i = 0; i < kRounds; ++i) {
    fill(tensor, i);
    device.synchronize();
    const double out = seconds_of(device, [&] { tensor.buffer().leave_device(); });
    const double in = seconds_of(device, [&] { tensor.buffer().on_device(Access::read); });
    rates = {std::max(rates.to_host, bytes / out), std::max(rates.to_device, bytes / in), true};
  }
  return rates;
}

struct Options {
  std::vector<std::string> parts = {"2", "4", "8"};
  std::string trace;  // a file
  bool recomputes = false;
};

/// A case that can be repeated.
struct Work {
  std::string name;
  std::function<void()> run;
  nn::Network* network = nullptr;  // a trace shows its steps
  std::function<std::optional<double>()> predicted_seconds = {};
  /// Runs the same samples in this number of minibatches. Returns false if that is impossible.
  std::function<bool(int64_t parts)> accumulate = {};
};

/// Writes a timeline of one run, and prints how long each row was busy.
void trace(const std::string& file, Device device, const Work& work) {
  if (work.network && device.is_cpu())
    work.network->set_layer_timer([](const nn::LayerTime& time) {
      add_to_timeline({.row = "steps",
                       .kind = time.backward ? "backward" : "forward",
                       .name = time.name,
                       .begin = time.begin,
                       .seconds = time.seconds});
    });
  device.synchronize();
  start_timeline();
  work.run();
  device.synchronize();
  const Timeline timeline = stop_timeline();
  if (work.network) work.network->set_layer_timer({});
  write_file_atomic(file, as_bytes(timeline.chrome_trace()));
  for (const TimelineRow& row : timeline.rows())
    print_case("out_of_core", work.name + ' ' + device.name() + " trace", row.name + " busy",
               1000 * timeline.seconds(), 1000 * row.busy_seconds, "ms",
               row.busy_seconds / timeline.seconds());
}

/// The time of the work within the memory, after it has run once.
double seconds_within(Device device, std::optional<uint64_t> budget, const Work& work,
                      TransferCount& moved) {
  device.memory().trim();
  device.workspace().restart(0);
  device.memory().set_budget(budget);
  work.run();
  const TransferCount before = transfer_count();
  const double seconds = seconds_of(device, work.run);
  const TransferCount after = transfer_count();
  moved.to_host_bytes = after.to_host_bytes - before.to_host_bytes;
  moved.to_device_bytes = after.to_device_bytes - before.to_device_bytes;
  return seconds;
}

/// The shortest of several times of the work.
double shortest_within(Device device, std::optional<uint64_t> budget, const Work& work) {
  TransferCount moved;
  double seconds = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRounds; ++i)
    seconds = std::min(seconds, seconds_within(device, budget, work, moved));
  return seconds;
}

/// Prints the time of the largest minibatches that fit the memory in core.
void compare_accumulation(Device device, uint64_t budget, const Work& work, double seconds,
                          const std::string& text) {
  set_out_of_core(OutOfCore::off);
  for (int64_t parts = 2;; parts *= 2) try {
      bool possible = true;
      const Work small{.name = work.name, .run = [&] { possible = work.accumulate(parts); }};
      const double added = shortest_within(device, budget, small);
      if (possible)
        print_case("out_of_core", text, "accumulation of " + std::to_string(parts), 1000 * seconds,
                   1000 * added, "ms", added / seconds);
      break;
    } catch (const OutOfMemory&) {
    }
  set_out_of_core(OutOfCore::automatic);
}

/// Prints the times in core and with a part of the memory. The rounds take turns, because other
/// programs may slow down the machine for a while.
void compare(Device device, const Work& work, const Options& options) {
  Allocator& memory = device.memory();
  memory.set_budget({});
  const LinkRates link = measure_link(device);
  DeviceRates rates = device_rates(device);
  rates.link = rates.link.value_or(LinkRates());
  rates.link->to_host = link.to_host;  // in place of rates of an earlier run with another link
  rates.link->to_device = link.to_device;
  rates.link->overlaps = true;
  if (options.recomputes) rates.link = LinkRates{1, 1, true};
  set_device_rates(rates);
  work.run();  // measures solvers
  memory.trim();
  work.run();
  memory.reset_peak();
  work.run();
  const uint64_t need = memory.account().peak - memory.account().workspace;
  const double fits = shortest_within(device, {}, work);
  set_out_of_core(OutOfCore::off);
  const double off = shortest_within(device, {}, work);
  set_out_of_core(OutOfCore::automatic);
  print_case("out_of_core", work.name + ' ' + device.name() + " that fits", "out of core off",
             1000 * fits, 1000 * off, "ms", off / fits);
  for (const std::string& part : options.parts) {
    const auto budget = static_cast<uint64_t>(static_cast<double>(need) / std::stod(part));
    TransferCount moved;
    double in_core = std::numeric_limits<double>::infinity(), seconds = in_core;
    for (int i = 0; i < kRounds; ++i) {
      in_core = std::min(in_core, seconds_within(device, {}, work, moved));
      seconds = std::min(seconds, seconds_within(device, budget, work, moved));
    }
    const double bound = std::max({in_core, static_cast<double>(moved.to_host_bytes) / link.to_host,
                                   static_cast<double>(moved.to_device_bytes) / link.to_device});
    const std::string text = work.name + ' ' + device.name() + " memory/" + part +
                             (options.recomputes ? " recomputed" : "");
    print_case("out_of_core", text, "in core", 1000 * seconds, 1000 * in_core, "ms",
               in_core / seconds);
    print_case("out_of_core", text, "bound", 1000 * seconds, 1000 * bound, "ms", bound / seconds);
    const auto predicted = work.predicted_seconds ? work.predicted_seconds() : std::nullopt;
    if (predicted)
      print_case("out_of_core", text, "prediction", 1000 * seconds, 1000 * *predicted, "ms",
                 *predicted / seconds);
    if (work.accumulate) compare_accumulation(device, budget, work, seconds, text);
    if (!options.trace.empty()) trace(options.trace, device, work);
  }
  memory.set_budget({});
}

void train(Device device, const std::string& spec, const Options& options) {
  const std::vector<std::string> words = parts_of(spec, ':');
  const int64_t batch = std::stoll(words.at(1));
  nn::Network network = nn::Network::load("models/" + words[0] + ".json", device);
  network.initialize(0);
  auto pictures = std::make_shared<RandomPictures>(2 * batch, network.input_shape(),
                                                   static_cast<int>(network.output_shape()[0]));
  nn::Optimizer optimizer;
  // Each amount of memory has its own updater, which divides the minibatch anew.
  std::unique_ptr<nn::Iterator> iterator;
  std::unique_ptr<nn::Updater> updater;
  uint64_t budget = 1;
  int64_t accumulated = 1;
  const auto accumulate = [&](int64_t minibatches) {
    if (minibatches > batch) return false;
    if (device.memory().account().budget != budget || accumulated != minibatches) {
      budget = device.memory().account().budget;
      accumulated = minibatches;
      updater.reset();
      iterator = std::make_unique<nn::Iterator>(
          pictures, nn::IteratorOptions{.batch_size = batch / minibatches});
      updater = std::make_unique<nn::Updater>(network, optimizer, *iterator,
                                              nn::Schedule{.base = 0.001}, minibatches);
    }
    updater->update();
    return true;
  };
  const auto step = [&] { accumulate(1); };
  const auto predicted = [&] {
    const int64_t passes = updater->parts();
    std::optional<double> seconds = network.predict_seconds(ceil_div(batch, passes));
    if (seconds) *seconds *= static_cast<double>(passes);
    return seconds;
  };
  compare(device, {spec, step, &network, predicted, accumulate}, options);
}

/// A convolution whose tensors have never been on a device with less memory.
class Convolution {
 public:
  Convolution(Device device, const std::string& spec) : device_(device) {
    Shape shape;
    for (const std::string& side : parts_of(spec, ',')) shape.push_back(std::stoll(side));
    filter_ = Tensor::full({shape[4], shape[1], 3, 3}, 0.01f, device);
    bias_ = Tensor::full({1, shape[4], 1, 1}, 0.5f, device);
    x_ = Tensor({shape[0], shape[1], shape[2], shape[3]}, DType::f32, device);
    y_ = Tensor({shape[0], shape[4], shape[2], shape[3]}, DType::f32, device);
    fill(x_, 1);
  }

  uint64_t bytes() const { return x_.bytes() + y_.bytes(); }
  void run() {
    leave();
    conv2d_into(y_, x_, filter_, kConv);
  }
  void run_fused() {
    leave();
    const Tensor bias = bias_.reshape({bias_.dim(1)});
    conv2d_into(y_, x_, filter_, kConv, {.bias = &bias, .activation = Activation::relu});
  }
  void run_separate() {
    run();
    leave();
    update("y = y + b", {{"y", y_}, {"b", bias_}});
    leave();
    update("y = max(y, 0)", {{"y", y_}});
  }

 private:
  static constexpr Conv2d kConv{.padding = {1, 1}};

  void leave() {
    if (!device_.memory().account().budget) return;
    x_.buffer().leave_device();
    y_.buffer().leave_device();
  }

  Device device_;
  Tensor filter_, bias_, x_, y_;
};

void convolve(Device device, const std::string& spec, const Options& options) {
  Convolution convolution(device, spec);
  compare(device, {spec, [&] { convolution.run(); }}, options);
}

void fuse(Device device, const std::string& spec, const Options& options) {
  Convolution convolution(device, spec);
  for (const std::string& part : options.parts) {
    device.memory().set_budget(
        static_cast<uint64_t>(static_cast<double>(convolution.bytes()) / std::stod(part)));
    Pairs pairs;
    for (int i = 0; i <= kRounds; ++i) {
      const double fused = seconds_of(device, [&] { convolution.run_fused(); });
      const double separate = seconds_of(device, [&] { convolution.run_separate(); });
      if (i > 0) pairs.add_times(1000 * fused, 1000 * separate);  // the first run measures solvers
    }
    pairs.print("out_of_core", spec + ' ' + device.name() + " memory/" + part, "not fused", "ms");
  }
  device.memory().set_budget({});
}

/// The rates of a large GPU on a fast link. Copying often limits its pieces.
constexpr pieces::PieceCosts kGpuCosts{.to_device = 1 / 55e9,
                                       .to_host = 1 / 55e9,
                                       .copy = 4e-6,
                                       .start = 10e-6,
                                       .multiply_add = 1 / 20e12,
                                       .byte = 1 / 2e12};

/// Compares the choice for one convolution and memory.
void compare_choices(const std::string& name, const ConvProblem& p, uint64_t bytes,
                     const pieces::PieceCosts& costs) {
  std::optional<conv::PieceSize> size;
  const double choosing =
      seconds_of(Device::cpu(), [&] { size = conv::choose_pieces(p, bytes, costs); });
  if (!size) return;
  const double ours = 1000 * conv::predict_seconds(p, *size, costs);
  for (const auto& [peer, seconds] :
       {std::pair("all sizes", test::best_of_all_pieces(p, bytes, costs)),
        std::pair("paper's order", test::best_by_one_axis_at_a_time(p, bytes, costs))})
    print_case("out_of_core", name, peer, ours, 1000 * seconds, "ms", 1000 * seconds / ours);
  print_case("out_of_core", name, "10 ms to choose", 1000 * choosing, 10, "ms", 0.01 / choosing);
}

/// Pieces of a convolution 3x3, by the rates of the device and by those of a large GPU.
void search(Device device, const std::string& spec, const Options& options) {
  Shape shape;
  for (const std::string& side : parts_of(spec, ',')) shape.push_back(std::stoll(side));
  ConvProblem p{.n = shape[0],
                .c = shape[1],
                .h = shape[2],
                .w = shape[3],
                .k = shape[4],
                .r = 3,
                .s = 3,
                .padding = {1, 1}};
  const pieces::PieceCosts own = pieces::piece_costs(device_rates(device));
  for (const ConvDirection direction :
       {ConvDirection::forward, ConvDirection::backward_data, ConvDirection::backward_filter}) {
    p.direction = direction;
    const auto whole = static_cast<double>(conv::piece_bytes(p, {p.n, p.h, p.c, p.k}));
    for (const std::string& part : options.parts)
      for (const auto& [rates, costs] : {std::pair(device.name(), own), {"GPU", kGpuCosts}})
        compare_choices(spec + ' ' + std::string(direction_name(direction)) + " memory/" + part +
                            " rates of " + rates,
                        p, static_cast<uint64_t>(whole / std::stod(part)), costs);
  }
}

}  // namespace
}  // namespace kaiseki::bench

int main(int argc, char** argv) {
  using namespace kaiseki;
  std::string device = "opencl", mode;
  bench::Options options;
  std::optional<test::SimulatedLink> link;
  std::vector<std::string> cases;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text == "--device" && i + 1 < argc)
      device = argv[++i];
    else if (text == "--parts" && i + 1 < argc)
      options.parts = bench::parts_of(argv[++i], ',');
    else if (text == "--trace" && i + 1 < argc)
      options.trace = argv[++i];
    else if (text == "--recompute")
      options.recomputes = true;
    else if (text == "--link" && i + 1 < argc)
      link.emplace(std::stod(argv[++i]) * 1e9);
    else if (mode.empty())
      mode = text;
    else
      cases.push_back(text);
  }
  const std::map<std::string, decltype(&bench::train)> modes = {{"train", bench::train},
                                                                {"conv", bench::convolve},
                                                                {"fuse", bench::fuse},
                                                                {"search", bench::search}};
  if (!modes.contains(mode) || cases.empty()) {
    std::fprintf(stderr,
                 "out_of_core: expected train NETWORK:BATCH, or conv, fuse or search and "
                 "N,C,H,W,K\n");
    return 1;
  }
  const Device opened = link ? Device::cpu() : Device::parse(device);
  for (const std::string& one : cases) modes.at(mode)(opened, one, options);
}
