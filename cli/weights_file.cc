// SPDX-License-Identifier: MIT
#include "cli/weights_file.h"

#include <algorithm>
#include <charconv>

#include "cli/classes.h"
#include "cli/text.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "nn/data/picture.h"
#include "nn/io/file.h"
#include "nn/onnx/onnx.h"
#include "nn/sukiyaki_weights.h"
#include "nn/train/checkpoint.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

std::string floats_text(const std::vector<float>& values) {
  std::string text;
  for (float value : values) {
    char buffer[40];
    if (!text.empty()) text += ',';
    text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  return text;
}

std::vector<float> parse_floats(const std::string& text) {
  std::vector<float> values;
  for (const std::string& part : split(text, ',')) {
    float value = 0;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error == std::errc() && end == part.data() + part.size()) values.push_back(value);
  }
  return values;
}

fs::path weights_file(const std::string& name) {
  if (!fs::is_directory(name)) return name;
  if (fs::path best = fs::path(name) / "best.safetensors"; fs::exists(best)) return best;
  auto checkpoints = nn::list_checkpoints(name);
  if (checkpoints.empty())
    throw Error(name +
                ": expected a file of weights or a folder of checkpoints, got a folder "
                "without any");
  return checkpoints.front();
}

std::string one_line(const nn::LoadReport& report) {
  std::string text = report.str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

nn::Metadata to_metadata(const WeightsInfo& info) {
  nn::Metadata metadata;
  if (!info.class_names.empty()) metadata["class_names"] = join(info.class_names, "\n");
  if (!info.mean.empty()) metadata["mean"] = floats_text(info.mean);
  if (!info.std.empty()) metadata["std"] = floats_text(info.std);
  if (info.resize) metadata["resize"] = std::to_string(info.resize);
  return metadata;
}

WeightsInfo from_metadata(const nn::Metadata& metadata) {
  auto value = [&](const char* key) {
    auto at = metadata.find(key);
    return at == metadata.end() ? std::string() : at->second;
  };
  WeightsInfo info{split(value("class_names"), '\n'), parse_floats(value("mean")),
                   parse_floats(value("std"))};
  for (std::string& name : info.class_names) name = printable(name);
  const std::string resize = value("resize");
  std::from_chars(resize.data(), resize.data() + resize.size(), info.resize);
  if (info.resize < 0 || info.resize > nn::kMaxPictureSide) info.resize = 0;
  return info;
}

WeightsInfo load_weights_for(const std::string& name, nn::Network& network,
                             nn::LoadReport* report) {
  if (name.empty()) {
    if (network.has_weights()) return from_metadata(network.metadata());
    throw Error("--weights: expected a file, as the network's own holds no weights, got none");
  }
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

void expect_to_save(const std::string& option, const fs::path& file, nn::Network& network,
                    const WeightsInfo& info) {
  const fs::path suffix = file.extension();
  if (suffix != ".safetensors" && suffix != ".json" && suffix != ".tar" && suffix != ".onnx")
    throw Error(option + ": expected a file .safetensors, .json, .tar or .onnx, got " +
                file.string());
  nn::expect_writable(file);
  if (suffix == ".onnx") nn::expect_onnx(network);
  if (suffix == ".safetensors" || suffix == ".tar") nn::expect_names(network, to_metadata(info));
  if (suffix != ".json") return;
  nn::to_sukiyaki(network);
  if (!info.mean.empty() || !info.std.empty() || info.resize || !are_numbers(info.class_names))
    log_warning(file.string() +
                ": .json has no place for the names of classes, mean, std and resize: give --mean, "
                "--std and --resize again with these weights, or save .safetensors");
}

void save_weights_of(const fs::path& file, nn::Network& network, const WeightsInfo& info) {
  if (file.extension() == ".safetensors")
    nn::write_weights(file, network, to_metadata(info));
  else
    nn::save_weights(file, network, to_metadata(info));
}

}  // namespace kaiseki::cli
