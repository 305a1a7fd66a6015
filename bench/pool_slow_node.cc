// SPDX-License-Identifier: MIT
// pool_slow_node URL TOKEN GFLOPS: a node that trains like `kaiseki join --jobs 2` and simulates a
// slower device. After computing, it waits until a device of that speed would have the result. The
// simulated device starts when the last blob has arrived. Many such nodes on one machine simulate
// many machines.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "base/error.h"
#include "dist/net/link.h"
#include "dist/net/pool_channel.h"
#include "dist/node/node.h"
#include "dist/node/training.h"
#include "dist/train/ticket.h"
#include "matrix/threads.h"
#include "nn/graph.h"
#include "nn/parse_network.h"

using namespace kaiseki;

namespace {

volatile std::sig_atomic_t ended = 0;

/// A device that computes one ticket after the other.
class SlowDevice {
 public:
  explicit SlowDevice(double gflops) : gflops_(gflops) {}

  ByteVector run(ByteView input, const dist::TicketContext& context) {
    const ByteVector bytes =
        input.empty() ? context.fetch(context.blobs.at(0)) : ByteVector(input.begin(), input.end());
    const dist::TrainingTicket ticket = dist::decode_ticket(bytes);
    Clock::time_point ready = Clock::now();
    dist::TicketContext timed = context;
    timed.fetch = [&](const std::string& hash) {
      ByteVector blob = context.fetch(hash);
      ready = Clock::now();
      return blob;
    };
    ByteVector result = train_(input, timed);
    const ByteVector network = context.fetch(ticket.network);
    std::this_thread::sleep_until(reserve(ticket, result, network, ready));
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Returns the time at which the device would finish.
  Clock::time_point reserve(const dist::TrainingTicket& ticket, const ByteVector& result,
                            ByteView network, Clock::time_point ready) {
    const std::lock_guard lock(mutex_);
    const std::string key = ticket.weights + ticket.samples;
    int passes = 3;
    int64_t samples = 0;
    if (ticket.work == dist::Work::forward) {
      passes = 1;
      samples = dist::decode_tensors(result, "result").tensors.at(0).value.dim(0);
      if (forward_.size() > 1000) forward_.clear();
      forward_.insert(key);
    } else if (ticket.work == dist::Work::backward) {
      passes = forward_.erase(key) ? 2 : 3;
      samples = ticket.grad_output.dim(0);
    } else {
      samples = ticket.labels.dim(0);
    }
    const double flops = 2.0 * passes * static_cast<double>(samples * multiply_adds(network));
    const auto seconds = std::chrono::duration<double>(flops / (gflops_ * 1e9));
    free_ = std::max(free_, ready) + std::chrono::duration_cast<Clock::duration>(seconds);
    return free_;
  }

  int64_t multiply_adds(ByteView network) {
    const std::string json(as_text(network));
    const auto [at, fresh] = multiply_adds_.try_emplace(json, 0);
    if (fresh)
      for (const nn::GraphNode& node : nn::build_graph(nn::parse_network(json, "network")).nodes)
        at->second += node.shape.multiply_adds;
    return at->second;
  }

  const double gflops_;
  const dist::NodeFunction train_ = dist::training_function(Device::cpu());
  std::mutex mutex_;
  Clock::time_point free_ = {};
  std::set<std::string> forward_;  // tickets with a pending backward pass
  std::map<std::string, int64_t> multiply_adds_;
};

}  // namespace

int main(int count, char** arguments) try {
  if (count != 4) throw Error("usage: pool_slow_node URL TOKEN GFLOPS");
  std::signal(SIGTERM, [](int) { ended = 1; });
  set_thread_count(1);
  SlowDevice device(std::atof(arguments[3]));
  dist::NodeOptions how;
  how.wire.url = dist::parse_coordinator_url(arguments[1]);
  how.wire.token = arguments[2];
  how.functions[dist::kTrainingFunction] = [&device](ByteView input,
                                                     const dist::TicketContext& context) {
    return device.run(input, context);
  };
  how.stop = [] { return ended != 0; };
  how.info = {.name = "slow", .device = "waits", .threads = 2, .gflops = std::atof(arguments[3])};
  how.info.link = dist::measure_link(how.wire);
  const dist::LinkSpeed link = how.info.link.value_or(dist::LinkSpeed());
  std::printf("%.1f Mbit/s down, %.1f up, %.4f s there and back\n", link.down_mbit_s,
              link.up_mbit_s, link.round_trip_s);
  std::fflush(stdout);
  dist::Node(std::move(how)).run();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
