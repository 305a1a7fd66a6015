// SPDX-License-Identifier: MIT
#include "cli/weights_file.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/classes.h"
#include "cli/for_option.h"
#include "nn/onnx/onnx.h"
#include "nn/sukiyaki_weights.h"
#include "nn/train/checkpoint.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

fs::path weights_file(const std::string& name) {
  std::error_code error;
  if (!fs::is_directory(name, error)) return name;
  if (fs::path best = fs::path(name) / "best.safetensors"; fs::exists(best)) return best;
  auto checkpoints = nn::list_checkpoints(name);
  if (checkpoints.empty())
    throw Error(name +
                ": expected a weights file or a folder of checkpoints, got a folder "
                "without checkpoints");
  return checkpoints.front();
}

std::string one_line(const nn::LoadReport& report) {
  std::string text = report.str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

WeightsInfo load(const std::string& name, nn::Network& network, nn::LoadReport* report) {
  const fs::path file = weights_file(name);
  nn::Metadata metadata;
  nn::LoadReport found = nn::load_weights(file, network, false, &metadata);
  std::erase_if(found.unexpected,
                [](const std::string& tensor) { return tensor.starts_with("optimizer/"); });
  if (report ? found.matched.empty() : !found.complete())
    throw Error(file.string() + ": expected the weights of this network, got " + one_line(found));
  if (report) *report = found;
  return from_metadata(metadata);
}

}  // namespace

WeightsInfo load_weights_for(const std::string& name, nn::Network& network,
                             nn::LoadReport* report) {
  if (!name.empty()) return for_option("--weights", [&] { return load(name, network, report); });
  if (network.has_weights()) return from_metadata(network.metadata());
  throw Error(
      "missing option --weights: the network's file has no weights; kaiseki train --save FILE "
      "writes them");
}

void expect_finite(double value, const std::string& what, nn::Network& network) {
  if (std::isfinite(value)) return;
  std::string bad;
  for (const nn::Parameter& parameter : network.parameters())
    for (const float weight : parameter.value.to_vector())
      if (bad.empty() && !std::isfinite(weight)) bad = parameter.name;
  throw Error(what + ": the network gives numbers that are not finite" +
              (bad.empty() ? "" : ", because the weights " + bad + " hold NaN or infinity"));
}

void expect_to_save(const std::string& option, const fs::path& file, nn::Network& network,
                    const WeightsInfo& info) {
  const fs::path suffix = file.extension();
  if (suffix != ".safetensors" && suffix != ".json" && suffix != ".tar" && suffix != ".onnx")
    throw Error(option + ": expected a file .safetensors, .json, .tar or .onnx, got " +
                file.string());
  for_option(option, [&] { expect_writable(file); });
  if (suffix == ".onnx") nn::expect_onnx(network);
  if (suffix == ".safetensors" || suffix == ".tar")
    nn::check_storable_names(network, to_metadata(info));
  if (suffix != ".json") return;
  nn::to_sukiyaki(network);
  if (!info.mean.empty() || !info.std.empty() || info.resize || !are_numbers(info.class_names))
    log_warning(
        file.string() +
        ": .json cannot hold class names, mean, std and resize: pass --mean or "
        "--mean-image, --std and --resize again with these weights, or save as .safetensors");
}

void save_weights_of(const fs::path& file, nn::Network& network, const WeightsInfo& info) {
  if (file.extension() == ".safetensors")
    nn::write_weights(file, network, to_metadata(info));
  else
    nn::save_weights(file, network, to_metadata(info));
}

}  // namespace kaiseki::cli
