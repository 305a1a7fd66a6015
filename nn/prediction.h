// SPDX-License-Identifier: MIT
// Predicts the memory and the time of a training step before it runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "matrix/device.h"

namespace kaiseki::nn {

/// A layer in one training step, with the layers that are fused with it.
struct LayerPrediction {
  double seconds = 0;        // of its forward and backward steps, and of computing again
  bool again = false;        // the backward pass computes its output again
  uint64_t out = 0, in = 0;  // bytes over the link
  int64_t pieces = 0;        // number of pieces if the own tensors of its steps do not fit
};

/// A training step on a device with a given memory. Bytes and seconds.
struct TrainingPrediction {
  uint64_t parameters = 0;                             // weights, and gradients with momentum
  uint64_t in_core = 0;                                // tensors of a pass of the whole minibatch
  int64_t parts = 1;                                   // number of parts of the minibatch
  uint64_t peak = 0;                                   // tensors of a pass that stay on the device
  uint64_t leaves = 0;                                 // leave in each pass and come back
  int64_t in_pieces = 0;                               // steps whose own tensors do not fit
  uint64_t missing = 0;                                // lack with this plan; 0: the plan can run
  double seconds = 0, seconds_in_core = 0;             // of the forward and the backward pass
  std::optional<double> bound = {};                    // FittedPlan::bound, if there are no parts
  std::map<std::string, LayerPrediction> layers = {};  // by name
};

/// For the network in a file (summarize()) and `memory` bytes. Measures the device's rates if they
/// are not known. Throws ParseError, and Error if the network has no loss.
TrainingPrediction predict_training(const std::string& file, int64_t batch, uint64_t memory,
                                    Device device);

}  // namespace kaiseki::nn
