// SPDX-License-Identifier: MIT
// The metadata of weights: class names, mean, std and resize.
#pragma once

#include <string>
#include <vector>

#include "nn/io/named_tensor.h"

namespace kaiseki::cli {

struct WeightsInfo {
  std::vector<std::string> class_names;
  std::vector<float> mean, std;  // as in nn::Normalization
  int resize = 0;
};
nn::Metadata to_metadata(const WeightsInfo& info);
WeightsInfo from_metadata(const nn::Metadata& metadata);

}  // namespace kaiseki::cli
