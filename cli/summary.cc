// SPDX-License-Identifier: MIT
// kaiseki summary
#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/environment.h"
#include "base/error.h"
#include "base/json_line.h"
#include "cli/commands.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "nn/prediction.h"

namespace kaiseki::cli {
namespace {

std::string shape_text(const Shape& shape) {
  std::vector<std::string> dims;
  for (int64_t dim : shape) dims.push_back(std::to_string(dim));
  return join(dims, "x");
}

/// Throws Error if the product is too large.
template <class Number>
Number times(Number value, int64_t batch) {
  Number product = 0;
  if (__builtin_mul_overflow(value, batch, &product))
    throw Error(message("summary", "with a batch of ", batch, " a number reaches 2^63"));
  return product;
}

template <class Number>
void add_to(Number& sum, Number value) {
  if (__builtin_add_overflow(sum, value, &sum))
    throw Error(message("summary", "a sum of all layers reaches 2^63"));
}

/// Returns "in 3 parts", "as it is", or the measures by which a pass fits.
std::string plan_text(const nn::TrainingPrediction& found) {
  if (found.missing != 0)
    return "a pass does not fit: " + format_bytes(found.missing) +
           " are missing. Use a smaller batch, or set KAISEKI_SPILL_DIR on a CPU";
  if (found.parts > 1)
    return "a minibatch runs in " + format_count(found.parts) + " parts of equal size";
  std::vector<std::string> parts;
  const auto again =
      std::ranges::count_if(found.layers, [](const auto& layer) { return layer.second.again; });
  if (again != 0)
    parts.push_back("the backward pass computes the outputs of " + format_count(again) +
                    " layers again");
  if (found.leaves != 0)
    parts.push_back(format_bytes(found.leaves) + " leave the device for a while");
  if (found.in_pieces != 0) parts.push_back(format_count(found.in_pieces) + " steps run in pieces");
  return parts.empty() ? "a pass fits as it is" : join(parts, "; ");
}

/// The place of tensors that left the device.
const char* place_outside(Device device) { return device.is_cpu() ? "files" : "host"; }

/// The place of a layer's tensors until the backward pass needs them.
const char* place_of(const nn::LayerPrediction& layer, Device device) {
  if (layer.out != 0) return place_outside(device);
  return layer.again ? "nowhere" : "device";
}

/// Describes how a layer runs with this plan. Empty: as with enough memory.
std::string plan_text(const nn::LayerPrediction& layer, Device device) {
  const std::string place = place_outside(device);
  std::vector<std::string> parts;
  if (layer.again) parts.emplace_back("computed again");
  if (layer.out != 0) parts.push_back(format_bytes(layer.out) + " to " + place);
  if (layer.in != 0) parts.push_back(format_bytes(layer.in) + " from " + place);
  if (layer.pieces > 1) parts.push_back("in " + format_count(layer.pieces) + " pieces");
  return join(parts, ", ");
}

void print_plan(const SummaryCommand& c, const nn::TrainingPrediction& found) {
  std::printf("plan    in %s: %s\n", c.memory.c_str(), plan_text(found).c_str());
  std::printf("        tensors of a pass %s of %s, weights and momentum %s\n",
              format_bytes(found.peak).c_str(), format_bytes(found.in_core).c_str(),
              format_bytes(found.parameters).c_str());
  std::printf("        predicted %.3g s for a step, %.3g s with enough memory%s\n", found.seconds,
              found.seconds_in_core, bound_text(found.bound).c_str());
}

}  // namespace

int run_command(const SummaryCommand& c) {
  const std::filesystem::path file = find_network(c.network);
  const nn::NetworkSummary network = nn::summarize(file);
  int64_t parameters = 0, multiply_adds = 0;
  uint64_t activations = 0;
  const int64_t batch = c.batch_size;
  std::optional<nn::TrainingPrediction> plan;
  Device device = Device::cpu();
  if (!c.memory.empty()) {
    device = open_device(c.device);
    plan = nn::predict_training(file, batch, parse_bytes(c.memory, "--memory"), device);
  }
  std::vector<std::string> header = {"layer",      "type",          "output",
                                     "parameters", "multiply-adds", "activations"};
  if (plan) header.insert(header.end(), {"ms", "out of core"});
  Table table(header);
  for (const nn::LayerSummary& layer : network.layers) {
    const int64_t work = times(layer.multiply_adds, batch);
    const uint64_t bytes = times(layer.activation_bytes, batch);
    add_to(parameters, layer.parameters);
    add_to(multiply_adds, work);
    add_to(activations, bytes);
    const nn::LayerPrediction predicted = plan ? plan->layers[layer.name] : nn::LayerPrediction();
    if (c.json) {
      JsonLine line;
      line.add("layer", layer.name).add("type", layer.type);
      line.add("output", shape_text(layer.output)).add("parameters", layer.parameters);
      line.add("multiply_adds", work);
      line.add("activation_bytes", bytes);
      if (plan) {
        line.add("milliseconds", 1e3 * predicted.seconds).add("computed_again", predicted.again);
        line.add("bytes_out", predicted.out).add("bytes_in", predicted.in);
        line.add("pieces", predicted.pieces).add("place", place_of(predicted, device));
      }
      std::printf("%s\n", line.str().c_str());
    }
    std::vector<std::string> row = {layer.name,
                                    layer.type,
                                    shape_text(layer.output),
                                    format_count(layer.parameters),
                                    format_count(work),
                                    format_bytes(bytes)};
    if (plan)
      row.insert(row.end(),
                 {format_number("%.3g", 1e3 * predicted.seconds), plan_text(predicted, device)});
    table.row(row);
  }
  if (c.json) return 0;
  table.rule();
  table.row({"total", "", "", format_count(parameters), format_count(multiply_adds),
             format_bytes(activations)});
  const uint64_t weights = static_cast<uint64_t>(parameters) * sizeof(float);
  std::printf("%s  %s -> %s, batch of %s\n\n%s\n",
              styled(TextStyle::bold, title(network.name, file)).c_str(),
              shape_text(network.input).c_str(), shape_text(network.output).c_str(),
              format_count(batch).c_str(), table.str().c_str());
  std::printf(
      "memory  weights %s, with gradients and momentum %s, activations %s forward, about %s "
      "in training\n",
      format_bytes(weights).c_str(), format_bytes(3 * weights).c_str(),
      format_bytes(activations).c_str(), format_bytes(3 * weights + 2 * activations).c_str());
  if (plan) print_plan(c, *plan);
  return 0;
}

}  // namespace kaiseki::cli
