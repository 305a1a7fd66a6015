// SPDX-License-Identifier: MIT
// The cost model, compared with calculated values and with counted bytes.
#include "dist/train/plan.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/file.h"
#include "nn/parse_network.h"
#include "tests/dist/train/fixture.h"
#include "tests/support/source_dir.h"

namespace kaiseki::dist {
namespace {

NetworkSplit split_of(const std::string& name) {
  const std::string file = test::source_dir() + "/models/" + name + ".json";
  const ByteVector bytes = read_file(file, 1 << 20);
  return split_network(nn::parse_network(as_text(bytes), file));
}

struct Row {
  const char* network;
  int64_t samples;
  PoolMode mode;
  WireType wire;
  double down, up;      // bytes
  double at_10_mbit_s;  // seconds
};

/// One client and one ticket. data and concurrent_head use f32. border uses f16, and
/// i8 for gradients.
const Row kTable[] = {
    {"lenet", 64, PoolMode::data, WireType::f32, 1.724e6, 1.724e6, 2.76},
    {"lenet", 64, PoolMode::concurrent_head, WireType::f32, 1.724e6, 102e3, 1.46},
    {"lenet", 64, PoolMode::border, WireType::i8, 154e3, 128e3, 0.226},
    {"cifar", 64, PoolMode::data, WireType::f32, 89.9e3, 89.9e3, 0.144},
    {"cifar", 64, PoolMode::concurrent_head, WireType::f32, 89.9e3, 77.0e3, 0.134},
    {"cifar", 64, PoolMode::border, WireType::i8, 79.5e3, 60.5e3, 0.112},
    {"alexnet", 128, PoolMode::data, WireType::f32, 243.9e6, 243.9e6, 390},
    {"alexnet", 128, PoolMode::concurrent_head, WireType::f32, 243.9e6, 9.34e6, 203},
    {"alexnet", 128, PoolMode::border, WireType::i8, 7.03e6, 4.73e6, 9.41},
};

}  // namespace

TEST_CASE("bytes and seconds of a step are within 10 % of the table") {
  std::map<std::string, StepShape> shapes;
  for (const Row& row : kTable) {
    if (!shapes.contains(row.network))
      shapes[row.network] =
          step_shape(split_of(row.network), std::string(row.network) == "alexnet" ? 1000 : 10);
    CAPTURE(row.network);
    CAPTURE(pool_mode_name(row.mode));
    StepShape shape = shapes[row.network];
    shape.samples = shape.ticket_samples = row.samples;
    shape.wire = row.wire;
    const NodeRate node{
        .name = "n", .gflops = 1e9, .down_mbit_s = 10, .up_mbit_s = 10, .round_trip_s = 0};
    const StepPlan plan = plan_step(row.mode, shape, std::span(&node, 1), {1e9, 1e9});
    CHECK(plan.down_bytes == doctest::Approx(row.down).epsilon(0.1));
    CHECK(plan.up_bytes == doctest::Approx(row.up).epsilon(0.1));
    CHECK(plan.seconds == doctest::Approx(row.at_10_mbit_s).epsilon(0.1));
  }
}

TEST_CASE("the server's own work limits the speed-up: AlexNet, 2.58 and 12.3 times") {
  StepShape shape = step_shape(split_of("alexnet"), 1000);
  shape.samples = 1024;
  shape.ticket_samples = 128;
  // Infinitely fast nodes; the server has 50 GFLOP/s.
  const std::vector<NodeRate> nodes(
      8, {.name = "n", .gflops = 1e9, .down_mbit_s = 1e12, .up_mbit_s = 1e12, .round_trip_s = 0});
  const ServerRate server{50, 1e12};
  const double whole =
      6.0 * static_cast<double>(shape.backbone_multiply_adds + shape.head_multiply_adds) * 1024 /
      50e9;
  const double paper = plan_step(PoolMode::concurrent_head, shape, nodes, server).seconds;
  CHECK(paper / whole == doctest::Approx(0.387).epsilon(0.005));
  CHECK(whole / paper == doctest::Approx(2.58).epsilon(0.005));
  CHECK(whole / plan_step(PoolMode::border, shape, nodes, server).seconds ==
        doctest::Approx(12.3).epsilon(0.01));
  CHECK(plan_step(PoolMode::data, shape, nodes, server).seconds < whole / 1000);
  // In the mode concurrent_head server and nodes work at the same time. In border nodes wait.
  const std::vector<NodeRate> slow(
      1, {.name = "n", .gflops = 50, .down_mbit_s = 1e12, .up_mbit_s = 1e12, .round_trip_s = 0});
  CHECK(plan_step(PoolMode::concurrent_head, shape, slow, server).seconds ==
        doctest::Approx(whole));
  CHECK(plan_step(PoolMode::border, shape, slow, server).seconds == doctest::Approx(whole));
}

TEST_CASE(
    "the server's link in the paper's setting: AlexNet, 8 tickets of 128, 4 clients, 1 Gbit/s") {
  StepShape shape = step_shape(split_of("alexnet"), 1000);
  shape.samples = 1024;
  shape.ticket_samples = 128;
  const std::vector<NodeRate> nodes(4, {.name = "n",
                                        .gflops = 1e9,
                                        .down_mbit_s = 1e12,
                                        .up_mbit_s = 1e12,
                                        .round_trip_s = 0,
                                        .at_once = 2});
  const ServerRate server{1e9, 1000};
  shape.wire = WireType::f32;
  const StepPlan paper = plan_step(PoolMode::concurrent_head, shape, nodes, server);
  CHECK(paper.down_bytes == doctest::Approx(975e6).epsilon(0.01));
  CHECK(paper.up_bytes == doctest::Approx(75e6).epsilon(0.01));
  CHECK(paper.seconds == doctest::Approx(8.4).epsilon(0.01));
  shape.wire = WireType::i8;
  const StepPlan border = plan_step(PoolMode::border, shape, nodes, server);
  CHECK(border.down_bytes == doctest::Approx(38e6).epsilon(0.02));
  CHECK(border.up_bytes == doctest::Approx(38e6).epsilon(0.02));
  // 0.6 s one after the other; 0.3 s if both directions were always in use.
  CHECK(border.seconds > 0.3);
  CHECK(border.seconds < 0.6);
}

TEST_CASE("a node's link and device work at the same time when it holds two tickets") {
  // Each ticket: 1 s of computing, 0.5 s to fetch samples, 0.8 s to send gradients.
  StepShape shape{.backbone_parameters = 100'000,
                  .head_parameters = 0,
                  .border = 1,
                  .outputs = 1,
                  .backbone_multiply_adds = 1'000'000'000,
                  .samples = 4,
                  .ticket_samples = 1,
                  .sample_bytes = 500'000,
                  .wire = WireType::f32};
  NodeRate node{
      .name = "n", .gflops = 6, .down_mbit_s = 8, .up_mbit_s = 4, .round_trip_s = 0, .at_once = 1};
  const auto seconds = [&](int nodes) {
    return plan_step(PoolMode::concurrent_head, shape,
                     std::vector(static_cast<size_t>(nodes), node), {1e9, 1e9})
        .seconds;
  };
  CHECK(seconds(1) ==
        doctest::Approx(0.4 + 4 * 2.3).epsilon(0.01));  // weights, then one ticket after the other
  CHECK(seconds(4) == doctest::Approx(0.4 + 2.3).epsilon(0.01));
  node.at_once = 2;
  // The node gets the third ticket after the first result (2.7), the fourth after the second (3.7).
  CHECK(seconds(1) == doctest::Approx(3.7 + 0.5 + 1 + 0.8).epsilon(0.01));
  CHECK(seconds(4) == doctest::Approx(0.4 + 2.3).epsilon(0.01));
}

TEST_CASE("nodes share the server's link, and a slow node leaves the rest to the others") {
  // Each ticket: 1 s of computing; 1 MB of weights, and as much of gradients.
  StepShape shape{.backbone_parameters = 250'000,
                  .border = 1,
                  .outputs = 1,
                  .backbone_multiply_adds = 1'000'000'000,
                  .samples = 2,
                  .ticket_samples = 1,
                  .wire = WireType::f32};
  const NodeRate fast{
      .name = "n", .gflops = 6, .down_mbit_s = 100, .up_mbit_s = 100, .round_trip_s = 0};
  NodeRate slow = fast;
  slow.down_mbit_s = slow.up_mbit_s = 8;
  const auto seconds = [&](std::vector<NodeRate> nodes, double link) {
    return plan_step(PoolMode::concurrent_head, shape, nodes, {1e9, link}).seconds;
  };
  CHECK(seconds({fast, fast}, 200) == doctest::Approx(0.08 + 1 + 0.08));
  CHECK(seconds({fast, fast}, 16) == doctest::Approx(1 + 1 + 1));
  CHECK(seconds({fast, fast, fast, fast}, 16) ==
        doctest::Approx(1 + 1 + 1));  // two nodes have no ticket
  CHECK(seconds({slow, fast}, 48) ==
        doctest::Approx(0.2 + 2 * (1 + 0.2)));  // 40 tickets for the fast one
  const StepShape two = shape;
  shape.samples = 1;
  CHECK(seconds({fast, slow, slow, slow}, 16) ==
        doctest::Approx(0.5 + 1 + 0.5));  // at most the whole link
  shape = two;
  CHECK(seconds({slow, fast}, 16) == doctest::Approx(1 + 1 + 1));
}

TEST_CASE("the model gives the bytes of a step, in every mode") {
  for (PoolMode mode : {PoolMode::data, PoolMode::concurrent_head, PoolMode::border})
    for (WireType wire : {WireType::f32, WireType::f16, WireType::i8}) {
      CAPTURE(pool_mode_name(mode));
      CAPTURE(static_cast<int>(wire));
      const char* wide = R"({"inputs": {"x": {"shape": [1, 12, 12]}}, "layers": [
        {"name": "conv1", "type": "convolution", "output_channels": 40, "kernel_size": 3},
        {"name": "conv2", "type": "convolution", "output_channels": 40, "kernel_size": 3, "stride": 2},
        {"name": "fc3", "type": "fully_connected", "output_size": 100},
        {"name": "fc4", "type": "fully_connected", "output_size": 10}]})";
      PoolTrainingOptions options = pool_options(mode, wire);
      options.trust = {.checks = {.check_share = 0, .newcomer_checks = 0}};
      Run run(options, some_nodes(1), 1, wide);
      run.train(3);
      StepShape shape = step_shape(split_network(nn::parse_network(wide, "test")), 10);
      shape.samples = 32;
      shape.ticket_samples = 8;
      shape.wire = wire;
      const NodeRate node{.name = "n"};
      const LocalBytes& bytes = run.nodes->bytes();
      if (wire != WireType::f32) {  // the first step has all weights, the others have deltas
        shape.weights_share = 0;
        const double rest = plan_step(mode, shape, std::span(&node, 1)).down_bytes;
        shape.weights_share = 1;
        const double all = plan_step(mode, shape, std::span(&node, 1)).down_bytes - rest;
        shape.weights_share = static_cast<double>(bytes.weights) / 3 / all;
        CHECK(shape.weights_share < 0.8);
      }
      const StepPlan plan = plan_step(mode, shape, std::span(&node, 1));
      CHECK(static_cast<double>(bytes.weights + bytes.tickets) / 3 ==
            doctest::Approx(plan.down_bytes).epsilon(0.1));
      CHECK(static_cast<double>(bytes.results) / 3 == doctest::Approx(plan.up_bytes).epsilon(0.1));
    }
}

TEST_CASE(
    "AlexNet, 8 tickets of 16, two nodes: border has a fifteenth of the bytes of concurrent_head") {
  StepShape shape = step_shape(split_of("alexnet"), 1000);
  shape.samples = 128;
  shape.ticket_samples = 16;
  const std::vector<NodeRate> nodes(2);
  auto bytes = [&](PoolMode mode, WireType wire) {
    shape.wire = wire;
    const StepPlan plan = plan_step(mode, shape, nodes);
    return plan.down_bytes + plan.up_bytes;
  };
  const double paper = bytes(PoolMode::concurrent_head, WireType::f32);
  CHECK(15 * bytes(PoolMode::border, WireType::i8) <= paper);
  CHECK(10 * bytes(PoolMode::border, WireType::f16) <= paper);
}

TEST_CASE("volunteers pay less: the fewest bytes of the modes that take at most twice as long") {
  // Fast links and a slow server: data is the fastest mode, and has the most bytes.
  StepShape shape = step_shape(split_of("lenet"), 10);
  shape.samples = 64;
  shape.ticket_samples = 16;
  const ServerRate server{.gflops = 10, .mbit_s = 1e5};
  std::vector<NodeRate> nodes(
      2, {.name = "n", .down_mbit_s = 1e4, .up_mbit_s = 1e4, .round_trip_s = 0});
  auto plan = [&](PoolMode mode) { return plan_step(mode, shape, nodes, server); };
  const StepPlan border = plan(PoolMode::border), data = plan(PoolMode::data);
  REQUIRE(best_mode(shape, nodes, server) == PoolMode::data);
  REQUIRE(data.seconds < border.seconds);
  REQUIRE(border.seconds < 2 * data.seconds);
  nodes[1].volunteer = true;
  CHECK(best_mode(shape, nodes, server) == PoolMode::border);
  CHECK(3 * (border.down_bytes + border.up_bytes) < data.down_bytes + data.up_bytes);
  // A server that is far too slow for its part of border.
  CHECK(best_mode(shape, nodes, {.gflops = 1, .mbit_s = 1e5}) == PoolMode::data);
}

TEST_CASE(
    "the fastest mode: border for AlexNet on slow links, data without fully connected layers") {
  StepShape shape = step_shape(split_of("alexnet"), 1000);
  shape.samples = 128;
  shape.ticket_samples = 16;
  std::vector<NodeRate> nodes(4);
  CHECK(best_mode(shape, nodes) == PoolMode::border);
  StepShape flat{.backbone_parameters = 20'000,
                 .head_parameters = 100,
                 .border = 100'000,
                 .outputs = 10,
                 .backbone_multiply_adds = 1'000'000,
                 .head_multiply_adds = 100,
                 .samples = 64,
                 .ticket_samples = 16};
  CHECK(best_mode(flat, nodes) != PoolMode::border);
  // More nodes never make a step slower.
  double last = 1e9;
  for (size_t count = 1; count <= 8; ++count) {
    const double seconds = plan_step(PoolMode::border, shape, std::vector<NodeRate>(count)).seconds;
    CHECK(seconds <= last);
    last = seconds;
  }
  CHECK(parse_pool_mode("border") == PoolMode::border);
  CHECK(parse_pool_mode("auto") == PoolMode::automatic);
  CHECK(parse_pool_mode("concurrent-head") == PoolMode::concurrent_head);
  CHECK(pool_mode_name(PoolMode::concurrent_head) == "concurrent-head");
  CHECK_THROWS_WITH_AS(parse_pool_mode("fast"), doctest::Contains("'fast'"), Error);
}

}  // namespace kaiseki::dist
