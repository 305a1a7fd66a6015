// SPDX-License-Identifier: MIT
#include "dist/cluster/thesis_model.h"

#include <doctest/doctest.h>

#include <array>

namespace kaiseki::dist::thesis {
namespace {

constexpr int64_t kLeast = 1, kMost = 32;  // images of a minibatch for each node (figure 23)

/// The network of section 4.3, with the nodes of each layer.
std::array<ThesisLayer, 5> network(const std::array<int, 5>& nodes) {
  std::array<ThesisLayer, 5> layers = {{{7.40e9, 0.29e6, 6.42e6},
                                        {7.40e9, 1.18e6, 3.21e6},
                                        {7.40e9, 4.72e6, 1.60e6},
                                        {3.70e9, 9.43e6, 0.40e6},
                                        {0.21e9, 411e6, 4096, false}}};
  for (size_t i = 0; i < nodes.size(); ++i) layers[i].nodes = nodes[i];
  return layers;
}

double data(int64_t images_of_node) {
  return data_parallel_seconds(network({1, 1, 1, 1, 1}), {}, images_of_node);
}

double hybrid(const std::array<int, 5>& nodes, int64_t images_of_node) {
  int all = 0;
  for (const int count : nodes) all += count;
  return hybrid_seconds(network(nodes), {}, all * images_of_node);
}

constexpr std::array<int, 5> kOneEach = {1, 1, 1, 1, 1}, kLastDivided = {1, 1, 1, 1, 2},
                             kMostDivided = {2, 2, 2, 1, 2};

}  // namespace

TEST_CASE("thesis model: the times of the four scenarios") {
  // Milliseconds: constant + factor * images of a node, from the tables of the thesis.
  const auto check = [](double seconds, double constant, double factor, int64_t images) {
    const double expected = constant + factor * static_cast<double>(images);
    CHECK(1e3 * seconds == doctest::Approx(expected).epsilon(0.005));
  };
  for (int64_t images = kLeast; images <= kMost; ++images) {
    CAPTURE(images);
    check(data(images), 114.16, 15.005, images);
    check(hybrid(kOneEach, images), 121.7, 18.5, images);
    check(hybrid(kLastDivided, images), 69.3, 22.2, images);
    check(hybrid(kMostDivided, images), 64.7, 16.65, images);
  }
}

TEST_CASE("thesis model: which scenario is fastest") {
  for (int64_t images = kLeast; images <= kMost; ++images) {
    CAPTURE(images);
    CHECK(hybrid(kOneEach, images) > data(images));
    CHECK((hybrid(kLastDivided, images) < data(images)) == (images <= 6));   // below 6.23
    CHECK((hybrid(kMostDivided, images) < data(images)) == (images <= 30));  // below 30.07
  }
}

}  // namespace kaiseki::dist::thesis
