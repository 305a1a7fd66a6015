// SPDX-License-Identifier: MIT
#include "dist/cluster/hybrid_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "dist/cluster/channel_rewriting.h"
#include "dist/cluster/local_ranks.h"

namespace kaiseki::dist {
namespace {

nn::NetworkSpec spec_of(const std::string& layers) {
  const std::string text =
      R"({"inputs": {"x": {"shape": [16, 8, 8]}}, "layers": [)" + layers + "]}";
  return nn::read_own_format(parse_json(text, "test"), "test");
}

/// A layer with little computing and many weights, and one with the opposite.
nn::NetworkSpec both_kinds() {
  return spec_of(
      R"({"name": "conv", "type": "convolution", "kernel_size": 3, "padding": 1,
          "output_channels": 16}, {"type": "relu"},
         {"name": "wide", "type": "fully_connected", "output_size": 4096}, {"type": "relu"},
         {"name": "last", "type": "fully_connected", "output_size": 10})");
}

ClusterRates rates_of(int ranks, double latency, double bytes_per_second) {
  return {.ranks = ranks,
          .device = {.multiply_adds = 1e11, .bytes = 1e10},
          .link = {.latency = latency, .bytes_per_second = bytes_per_second}};
}

}  // namespace

TEST_CASE("hybrid plan: a file has the plan, or an error names the place") {
  const ClusterRates rates = rates_of(4, 1e-5, 1e9);
  const auto read = [&](std::string_view text) {
    return read_plan(text, "plan.json", both_kinds(), 64, rates);
  };
  const HybridPlan plan = read(R"({"ranks_of_set": 2, "layers": ["wide", "conv"]})");
  CHECK(plan.ranks_of_set == 2);
  CHECK(plan.layers == std::set<std::string>{"conv", "wide"});
  CHECK(plan.seconds.all() == predict_step(both_kinds(), 64, rates, 2, plan.layers).all());
  CHECK(read(R"({"ranks_of_set": 1, "layers": []})").ranks_of_set == 1);
  struct Case {
    std::string text, place;
  };
  for (const Case& one : std::vector<Case>{
           {"{", "line 1"},
           {"[]", "expected an object"},
           {R"({"layers": ["wide"]})", "ranks_of_set"},
           {R"({"ranks_of_set": 3, "layers": ["wide"]})", "a divisor of the 4 ranks, got 3"},
           {R"({"ranks_of_set": 0, "layers": ["wide"]})", "got 0"},
           {R"({"ranks_of_set": 1.5, "layers": ["wide"]})", "got 1.5"},
           {R"({"ranks_of_set": 2})", "layers: expected a list of names"},
           {R"({"ranks_of_set": 2, "layers": []})", "at least one"},
           {R"({"ranks_of_set": 1, "layers": ["wide"]})", "none in sets of one"},
           {R"({"ranks_of_set": 2, "layers": ["thin"]})", "conv, wide, got"},
           {R"({"ranks_of_set": 2, "layers": [7]})", "got 7"},
           {R"({"ranks_of_set": 2, "layers": ["wide"], "stages": 2})", "got \"stages\""}}) {
    CAPTURE(one.text);
    try {
      read(one.text);
      FAIL_CHECK("no error");
    } catch (const Error& error) {
      const std::string said = error.what();
      CAPTURE(said);
      CHECK(said.find("plan.json") != std::string::npos);
      CHECK(said.find(one.place) != std::string::npos);
    }
  }
}

TEST_CASE("hybrid plan: a network that sends nothing divides nothing") {
  const HybridPlan plan = plan_hybrid(both_kinds(), 64, rates_of(1, 1, 1));
  CHECK(plan.ranks_of_set == 1);
  CHECK(plan.layers.empty());
  CHECK(plan.seconds.channels == 0);
  CHECK(plan.seconds.gradients == 0);
}

TEST_CASE("hybrid plan: a slow network and many samples: the minibatch is divided") {
  const HybridPlan plan = plan_hybrid(both_kinds(), 100'000, rates_of(4, 1e-4, 1e8));
  CHECK(plan.ranks_of_set == 1);
}

TEST_CASE("hybrid plan: few samples and many weights: the wide layer is divided") {
  const HybridPlan plan = plan_hybrid(both_kinds(), 4, rates_of(4, 1e-5, 1e9));
  CHECK(plan.ranks_of_set == 4);
  CHECK(plan.layers.contains("wide"));
  CHECK(plan.seconds.all() < plan_layers(both_kinds(), 4, rates_of(4, 1e-5, 1e9), 1).seconds.all());
}

TEST_CASE("hybrid plan: the time of a step, by hand") {
  const nn::NetworkSpec network = spec_of(
      R"({"name": "a", "type": "fully_connected", "output_size": 101, "bias": false},
         {"name": "b", "type": "fully_connected", "output_size": 10, "bias": false})");
  const ClusterRates rates = rates_of(4, 1e-3, 1e6);
  // Two sets of two ranks, 8 samples for each. The last rank has 51 outputs of layer a, with 1024
  // inputs.
  const HybridSeconds found = predict_step(network, 16, rates, 2, {"a"});
  const double a = 8 * 51 * 1024 / 1e11, b = 8 * 101 * 10 / 1e11;
  // The sum of the input's gradients is that of layer a, because b is whole.
  const double gathered = 8 * 101 * 4, input = 8 * 1024 * 4;
  const double copied = 2 / 1e10;
  CHECK(found.forward ==
        doctest::Approx(std::max(a, 2 * 8 * 51 * 4 / 1e10) + std::max(b, 2 * 8 * 10 * 4 / 1e10)));
  CHECK(found.backward == doctest::Approx(2 * found.forward));
  const double gather = 1e-3 + gathered / 2 / 1e6 + 2 * copied * gathered;
  const double sum = 2 * (1e-3 + input / 2 / 1e6 + 2 * copied * input);
  CHECK(found.channels == doctest::Approx(gather + copied * gathered + sum));
  const double weights = 51 * 1024 + 101 * 10;
  CHECK(found.update == doctest::Approx(20 * weights / 1e10));
  CHECK(found.gradients ==
        doctest::Approx(2 * (1 + 4 * weights / (4 << 20)) * 1e-3 + 4 * weights / 1e6));
}

TEST_CASE("hybrid plan: on several machines, factors cost less than the gradient of a wide layer") {
  const nn::NetworkSpec network =
      spec_of(R"({"name": "a", "type": "fully_connected", "output_size": 2000, "bias": false})");
  ClusterRates rates = rates_of(4, 1e-3, 1e6);
  const HybridSeconds sums = predict_step(network, 16, rates, 1, {});
  rates.several_machines = true;
  const HybridSeconds factors = predict_step(network, 16, rates, 1, {});
  // Three of four parts of 16 samples with 1024 inputs and 2000 outputs.
  CHECK(factors.gradients == doctest::Approx(3 * 3 * 1e-3 + 16 * 3024 * 4 * 0.75 / 1e6));
  CHECK(sums.gradients > 30 * factors.gradients);
  CHECK(factors.backward - sums.backward == doctest::Approx(12 * 1024 * 2000 / 1e11));
  // With more samples, gradients are summed again.
  CHECK(predict_step(network, 1000, rates, 1, {}).gradients == sums.gradients);
}

TEST_CASE("hybrid plan: the search is at most 5 % slower than the best of all choices") {
  const nn::NetworkSpec network = spec_of(
      R"({"name": "a", "type": "convolution", "kernel_size": 3, "output_channels": 32},
         {"type": "batch_normalization"}, {"type": "relu"},
         {"name": "b", "type": "convolution", "kernel_size": 1, "output_channels": 64},
         {"name": "c", "type": "convolution", "kernel_size": 3, "padding": 1,
          "output_channels": 64, "inputs": ["a"]},
         {"type": "max_pooling", "kernel_size": 2, "stride": 2},
         {"name": "d", "type": "fully_connected", "output_size": 300}, {"type": "dropout"},
         {"name": "e", "type": "fully_connected", "output_size": 200},
         {"name": "f", "type": "fully_connected", "output_size": 10})");
  uint64_t seed = 1;
  const auto random = [&](double low, double high) {  // logarithmic
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low * std::pow(high / low, static_cast<double>(seed >> 33) / 2147483648.0);
  };
  for (int i = 0; i < 200; ++i) {
    const int ranks = i % 3 + 2;
    ClusterRates rates = rates_of(ranks, random(1e-6, 1e-3), random(1e7, 1e11));
    rates.device = {.multiply_adds = random(1e9, 1e13), .bytes = random(1e9, 1e12)};
    const auto samples = static_cast<int64_t>(random(1, 1000));
    CAPTURE(i);
    const std::vector<std::string> layers = divisible_layers(network, ranks);
    double best = 1e9;
    for (uint32_t chosen = 1; chosen < 1u << layers.size(); ++chosen) {
      std::set<std::string> some;
      for (size_t k = 0; k < layers.size(); ++k)
        if (chosen >> k & 1) some.insert(layers[k]);
      best = std::min(best, predict_step(network, samples, rates, ranks, some).all());
    }
    const HybridPlan found = plan_layers(network, samples, rates, ranks);
    CHECK(found.seconds.all() <= 1.05 * best);
    CHECK(found.seconds.all() >= best);
  }
}

TEST_CASE("hybrid plan: all ranks measure the same rates") {
  std::vector<ClusterRates> all(3);
  run_local_ranks(3, [&](Communicator& ranks) {
    Cluster cluster(ranks.split(0, ranks.rank()));
    all[static_cast<size_t>(ranks.rank())] = measure_rates(cluster, Device::cpu());
  });
  for (const ClusterRates& one : all) {
    CHECK(one.ranks == 3);
    CHECK(one.device.multiply_adds == all[0].device.multiply_adds);
    CHECK(one.device.bytes == all[0].device.bytes);
    CHECK(one.link.latency == all[0].link.latency);
    CHECK(one.link.bytes_per_second == all[0].link.bytes_per_second);
    CHECK(one.link.latency > 0);
    CHECK(one.link.latency < 0.1);
    CHECK(one.link.bytes_per_second > 1e6);
  }
}

}  // namespace kaiseki::dist
