// SPDX-License-Identifier: MIT
// The time model of the thesis on hybrid parallelism (002, chapter 4), to compare plans with it.
// predict_step() in hybrid_plan.h includes the parts that this model omits.
#pragma once

#include <cstdint>
#include <span>

namespace kaiseki::dist::thesis {

/// A node and its links, in floating-point operations and bytes per second (table 4).
struct ThesisMachine {
  double flops = 4e12, memory = 400e9, network = 4e9;
};

struct ThesisLayer {
  double flop = 0;        // of one image, forward
  double parameters = 0;  // bytes
  double output = 0;      // bytes for one image
  bool is_convolution = true;
  int nodes = 1;  // nodes that divide the layer in a hybrid
};

/// Both return the seconds of a minibatch. All nodes compute `images` images of the whole network.
double data_parallel_seconds(std::span<const ThesisLayer> layers, const ThesisMachine& machine,
                             int64_t images);
/// A set of nodes is a pipeline with a stage for each layer. It computes `images` images.
double hybrid_seconds(std::span<const ThesisLayer> layers, const ThesisMachine& machine,
                      int64_t images);

}  // namespace kaiseki::dist::thesis
