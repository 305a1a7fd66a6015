// SPDX-License-Identifier: MIT
#include "nn/layer_timer.h"

#include <algorithm>

#include "base/clock.h"
#include "nn/network.h"
#include "tests/support/gradcheck.h"

namespace kaiseki::nn {

TEST_CASE("layer timer: gets each layer of each pass, in order") {
  test::for_each_device([](Device device) {
    Network network = Network::parse(R"({"inputs": {"x": {"shape": [1, 9, 9]}}, "layers": [
      {"name": "c", "type": "convolution", "output_channels": 3, "kernel_size": 3},
      {"name": "r", "type": "relu"},
      {"name": "f", "type": "fully_connected", "output_size": 4}]})",
                                     "test", device);
    std::vector<LayerTime> times;
    network.set_layer_timer([&](const LayerTime& time) { times.push_back(time); });
    const double start = steady_seconds();
    const std::vector<int32_t> labels = {0, 1};
    network.forward_loss(Tensor::full({2, 1, 9, 9}, 0.5f, device),
                         Tensor::from(std::span<const int32_t>(labels), {2}, device));
    const size_t forward = times.size();
    network.backward();
    REQUIRE(forward >= 2);
    REQUIRE(times.size() == 2 * forward);
    CHECK(times.front().name == "c");
    CHECK(times.back().name == "c");
    double last = start;
    for (size_t i = 0; i < times.size(); ++i) {
      CHECK(times[i].name == times[times.size() - 1 - i].name);
      CHECK(times[i].backward == (i >= forward));
      CHECK(times[i].begin >= last);
      CHECK(times[i].seconds >= 0);
      last = times[i].begin + times[i].seconds;
    }
    CHECK(last <= steady_seconds());
    CHECK(std::ranges::none_of(times, [](const LayerTime& time) { return time.name == "r"; }));

    network.set_layer_timer({});
    network.forward(Tensor::full({2, 1, 9, 9}, 0.5f, device));
    CHECK(times.size() == 2 * forward);
  });
}

}  // namespace kaiseki::nn
