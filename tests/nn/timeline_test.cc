// SPDX-License-Identifier: MIT
// A timeline of a training on OpenCL. It has its own program: the timeline must start before the
// device is opened.
#include "base/timeline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/nn/less_memory.h"

namespace kaiseki::nn {
namespace {

/// Batch normalization keeps the minibatch whole. Without room, tensors wait on the host.
constexpr const char* kNetwork = R"({"inputs": {"x": {"shape": [4, 40, 40]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "n", "type": "batch_normalization"}, {"name": "r", "type": "tanh"},
    {"name": "b", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "m", "type": "batch_normalization"}, {"name": "q", "type": "sigmoid"},
    {"name": "c", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "o", "type": "batch_normalization"}, {"name": "t", "type": "tanh"},
    {"name": "f", "type": "fully_connected", "output_size": 5}]})";

std::string text_of(const Json& event, std::string_view key) { return event.find(key)->string; }

struct CheckedTrace {
  std::map<std::string, int> kinds;
  std::map<double, std::string> rows;  // by thread
};

/// Commands of a queue run one after the other.
CheckedTrace checked(const Timeline& timeline, double host_seconds) {
  CheckedTrace trace;
  std::map<double, double> ends;  // by thread
  int wrong = 0;
  const Json file = parse_json(timeline.chrome_trace(), "trace");
  for (const Json& event : file.find("traceEvents")->items) {
    const double row = event.find("tid")->number;
    if (text_of(event, "ph") == "M") trace.rows[row] = event.find("args")->find("name")->string;
    if (text_of(event, "ph") != "X") continue;
    const double begin = event.find("ts")->number, duration = event.find("dur")->number;
    wrong += begin < 0 || duration < 0 || begin < ends[row] - 1;
    ends[row] = begin + duration;
    const std::string kind = text_of(event, "cat");
    ++trace.kinds[kind];
    if (kind == "kernel")
      wrong += text_of(event, "name").empty() || event.find("args");
    else
      wrong += event.find("args")->find("bytes")->number < 1;
  }
  CHECK(wrong == 0);
  CHECK(timeline.seconds() <= host_seconds);
  return trace;
}

}  // namespace

TEST_CASE("timeline: a training on OpenCL with its kernels and copies, and the same bits") {
  start_timeline();
  opencl::OpenclBackend* backend = test::opencl_or_null();
  if (!backend) return;
  const Device device = Device::opencl(0);
  test::WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);  // other solvers add in another order
  for (const opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu}) {
    CAPTURE(static_cast<int>(style));
    test::WithStyle with(backend->opencl(), style);
    stop_timeline();
    const test::WithRates rates(test::kFastLink);  // tensors move
    test::train(kNetwork, device, {});             // allocates memory that is kept
    const uint64_t budget = test::train(kNetwork, device, {}).peak * 8 / 10;
    const test::Trained plain = test::train(kNetwork, device, budget);
    const double begin = steady_seconds();
    start_timeline();
    const test::Trained traced = test::train(kNetwork, device, budget);
    device.synchronize();
    const double end = steady_seconds();
    CheckedTrace trace = checked(stop_timeline(), end - begin);
    CHECK(traced == plain);
    for (const char* kind : {"kernel", "upload", "download"}) {
      CAPTURE(kind);
      CHECK(trace.kinds[kind] > 0);
    }
    std::vector<std::string> rows;
    for (const auto& [thread, row] : trace.rows) rows.push_back(row);
    std::ranges::sort(rows);
    if (style == opencl::Style::cpu)
      CHECK(rows == std::vector<std::string>{"opencl:0 kernels"});
    else
      CHECK(rows ==
            std::vector<std::string>{"opencl:0 downloads", "opencl:0 kernels", "opencl:0 uploads"});
  }
  device.workspace().set_limit({});
}

TEST_CASE("timeline: commands wait for a place if thousands are queued, and all are recorded") {
  opencl::OpenclBackend* backend = test::opencl_or_null();
  if (!backend) return;
  const Device device = Device::opencl(0);
  device.synchronize();
  start_timeline();
  constexpr int kFills = 5000;
  Tensor t({4}, DType::f32, device);
  for (int i = 0; i < kFills; ++i) fill(t, 1);
  device.synchronize();
  const Timeline timeline = stop_timeline();
  CHECK(timeline.size() >= kFills);
  CHECK_FALSE(timeline.stopped());
}

}  // namespace kaiseki::nn
