// SPDX-License-Identifier: MIT
// kaiseki bench train --layers: the time of each layer in a training step.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_line.h"
#include "base/median.h"
#include "base/timeline.h"
#include "cli/bench.h"

namespace kaiseki::cli {
namespace {

using nn::LayerTime;

constexpr std::string_view kUpdate = "(update)";  // no layer has such a name by default

struct Profile {
  std::vector<std::string> names;  // in the order of the forward pass, then the update
  std::map<std::string, std::vector<double>> forward, backward;  // seconds by step
  std::vector<LayerTime> last;                                   // of the last step
};

std::string trace_of(const std::vector<LayerTime>& times) {
  Timeline timeline(times.size());
  for (const LayerTime& time : times)
    timeline.add({.row = "steps",
                  .kind = time.name == kUpdate ? "update"
                          : time.backward      ? "backward"
                                               : "forward",
                  .name = time.name,
                  .begin = time.begin,
                  .seconds = time.seconds});
  return timeline.chrome_trace();
}

Profile profile(Device device, int64_t steps, const BenchStep& step) {
  Profile result;
  step.network.set_layer_timer([&](const LayerTime& time) { result.last.push_back(time); });
  for (int64_t i = -1; i < steps; ++i) {  // the first step warms up
    result.last.clear();
    step.pass();
    device.synchronize();
    LayerTime update{.name = std::string(kUpdate), .begin = steady_seconds()};
    step.update();
    device.synchronize();
    update.seconds = steady_seconds() - update.begin;
    result.last.push_back(update);
    if (i < 0) continue;
    for (const LayerTime& time : result.last) {
      if (i == 0 && !time.backward) result.names.push_back(time.name);
      (time.backward ? result.backward : result.forward)[time.name].push_back(time.seconds);
    }
  }
  step.network.set_layer_timer({});
  return result;
}

}  // namespace

void bench_layers(const BenchCommand& c, const std::string& name, Device device,
                  const BenchStep& step) {
  Profile result = profile(device, c.repeat, step);
  const auto of = [](std::map<std::string, std::vector<double>>& times, const std::string& layer) {
    return times.contains(layer) ? median(times.at(layer)) : 0;
  };
  double total = 0;
  for (const std::string& layer : result.names)
    total += of(result.forward, layer) + of(result.backward, layer);
  for (const std::string& layer : result.names) {
    const double forward = of(result.forward, layer), backward = of(result.backward, layer);
    JsonLine line;
    line.add("bench", "layer").add("case", name).add("layer", layer);
    line.add("forward_milliseconds", 1e3 * forward).add("backward_milliseconds", 1e3 * backward);
    line.add("share", (forward + backward) / total);
    std::printf("%s\n", line.str().c_str());
  }
  std::fflush(stdout);
  if (!c.trace.empty()) write_file_atomic(c.trace, as_bytes(trace_of(result.last)));
}

}  // namespace kaiseki::cli
