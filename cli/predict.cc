// SPDX-License-Identifier: MIT
// kaiseki predict
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/error.h"
#include "base/json_line.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/weights_file.h"
#include "matrix/ops/normalize.h"
#include "matrix/ops/softmax.h"
#include "nn/data/picture.h"

namespace kaiseki::cli {
namespace {

void invert(Tensor& picture) {
  uint8_t* bytes = picture.mutable_data<uint8_t>();
  for (int64_t i = 0; i < picture.size(); ++i) bytes[i] = static_cast<uint8_t>(255 - bytes[i]);
}

void print_prediction(const std::string& picture, const std::vector<float>& probabilities,
                      const std::vector<std::string>& names, const PredictCommand& c) {
  std::vector<int> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t shown = std::min(order.size(), static_cast<size_t>(c.top));
  std::partial_sort(order.begin(), order.begin() + shown, order.end(), [&](int a, int b) {
    return probabilities[a] > probabilities[b] || (probabilities[a] == probabilities[b] && a < b);
  });
  auto name = [&](int i) {
    return i < static_cast<int>(names.size()) ? names[i] : std::to_string(i);
  };
  if (c.json) {
    JsonLine line;
    line.add("picture", picture).add("class", name(order[0]));
    line.add("probability", probabilities[order[0]]);
    for (size_t i = 1; i < shown; ++i)
      line.add("class" + std::to_string(i + 1), name(order[i]))
          .add("probability" + std::to_string(i + 1), probabilities[order[i]]);
    std::printf("%s\n", line.str().c_str());
    return;
  }
  int width = 0;
  for (size_t i = 0; i < shown; ++i) width = std::max(width, display_width(name(order[i])));
  std::printf("%s\n", styled(TextStyle::bold, printable(picture)).c_str());
  for (size_t i = 0; i < shown; ++i) {
    std::string label = name(order[i]);
    label.append(static_cast<size_t>(width - display_width(label)), ' ');
    std::printf("  %s  %7s", label.c_str(), format_percent(probabilities[order[i]], 1).c_str());
    if (terminal().live) std::printf("  %s", progress_bar(probabilities[order[i]], 24).c_str());
    std::printf("\n");
  }
}

}  // namespace

int run_command(const PredictCommand& c) {
  const Device device = open_device(c.device);
  nn::Network network = nn::Network::load(find_network(c.network), device);
  const WeightsInfo info = load_weights_for(c.weights, network);
  nn::Preprocessing how = preprocessing_for(network, c.resize ? c.resize : info.resize);
  const std::vector<float> mean = mean_for(network, c.mean, c.mean_image);
  const nn::Normalization normalization =
      normalization_for(network, mean.empty() ? info.mean : mean, c.std.empty() ? info.std : c.std);
  how.as_stored = c.as_stored;
  if (network.output_shape().rank() != 1)
    throw Error(message("predict", "expected a network whose output is [classes], got ",
                        network.output_shape()));
  for (const std::string& picture : c.pictures) {
    Tensor x = nn::read_picture(picture, how);
    if (c.invert) invert(x);
    Tensor y = network.forward(normalize(x, normalization.mean, normalization.std));
    if (network.outputs_logits()) y = softmax(y);
    const std::vector<float> probabilities = y.to_vector();
    for (const float probability : probabilities) expect_finite(probability, picture, network);
    print_prediction(picture, probabilities, info.class_names, c);
  }
  return 0;
}

}  // namespace kaiseki::cli
