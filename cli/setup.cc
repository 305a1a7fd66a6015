// SPDX-License-Identifier: MIT
#include "cli/setup.h"

#include <algorithm>
#include <charconv>

#include "cli/download.h"
#include "cli/subset.h"
#include "cli/text.h"
#include "matrix/backend.h"
#include "matrix/error.h"
#include "matrix/threads.h"
#include "nn/io/safetensors.h"
#include "nn/train/checkpoint.h"
#include "nn/weights.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

fs::path installed_models() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "share/kaiseki/models";
}

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

WeightsInfo from_metadata(nn::Metadata& metadata) {
  WeightsInfo info;
  info.class_names = split(metadata["class_names"], '\n');
  info.mean = parse_floats(metadata["mean"]);
  info.std = parse_floats(metadata["std"]);
  return info;
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

void set_augmentation(const std::string& text, nn::Preprocessing& how) {
  for (const std::string& part : split(text, ',')) {
    if (part == "flip") {
      how.flip = true;
      continue;
    }
    how.random_crop = true;
    how.padding = 4;
    if (part == "crop") continue;
    auto [end, error] = std::from_chars(part.data() + std::min<size_t>(5, part.size()),
                                        part.data() + part.size(), how.padding);
    if (!part.starts_with("crop:") || error != std::errc() || end != part.data() + part.size() ||
        how.padding < 0)
      throw Error("--augment: expected flip, crop or crop:PADDING, got '" + part + "'");
  }
}

}  // namespace

Device open_device(const DeviceOptions& options) {
  if (options.threads) set_thread_count(options.threads);
  Device device = Device::parse(options.device);
  set_default_device(device);
  return device;
}

std::string describe_device(Device device) {
  const DeviceInfo info = device.backend().info();
  if (!device.is_cpu()) return device.name() + " (" + info.name + ")";
  return "cpu (" + info.platform + ", " + std::to_string(thread_count()) +
         (thread_count() == 1 ? " thread)" : " threads)");
}

fs::path find_network(const std::string& name) {
  if (fs::is_regular_file(name)) return name;
  const bool bare = name.find('/') == std::string::npos;
  std::vector<fs::path> places;
  if (bare) {
    const std::string file = name.ends_with(".json") ? name : name + ".json";
    places = {file, fs::path("models") / file, installed_models() / file};
  }
  std::string looked = name;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place)) return place;
    looked += ", " + place.string();
  }
  throw Error(name + ": expected a network, got no such file (looked for " + looked + ")");
}

std::string title(const std::string& name, const fs::path& file) {
  return name.empty() ? file.stem().string() : name;
}

nn::Metadata to_metadata(const WeightsInfo& info) {
  nn::Metadata metadata;
  if (!info.class_names.empty()) metadata["class_names"] = join(info.class_names, "\n");
  if (!info.mean.empty()) metadata["mean"] = floats_text(info.mean);
  if (!info.std.empty()) metadata["std"] = floats_text(info.std);
  return metadata;
}

WeightsInfo load_weights_for(const std::string& name, nn::Network& network) {
  const fs::path file = weights_file(name);
  nn::LoadReport report = nn::load_weights(file, network, false);
  std::erase_if(report.unexpected,
                [](const std::string& tensor) { return tensor.starts_with("optimizer/"); });
  if (!report.complete()) {
    std::string text = report.str();
    std::replace(text.begin(), text.end(), '\n', ' ');
    throw Error(file.string() + ": expected the weights of this network, got " + text);
  }
  WeightsInfo info;
  if (file.extension() == ".safetensors") {
    nn::Metadata metadata;
    nn::read_safetensors(file, &metadata);
    info = from_metadata(metadata);
  }
  return info;
}

void save_weights_of(const fs::path& file, nn::Network& network, const WeightsInfo& info) {
  if (file.extension() == ".safetensors")
    nn::write_weights(file, network, to_metadata(info));
  else
    nn::save_weights(file, network);
}

nn::Preprocessing preprocessing_for(const nn::Network& network, const std::vector<float>& mean,
                                    const std::vector<float>& std) {
  const Shape input = network.input_shape();
  if (input.rank() != 3)
    throw Error(message("data", "expected a network whose input is [channels, height, width], got ",
                        input));
  nn::Preprocessing how;
  how.channels = static_cast<int>(input[0]);
  how.height = static_cast<int>(input[1]);
  how.width = static_cast<int>(input[2]);
  how.mean = mean;
  how.std = std;
  return how;
}

std::shared_ptr<const nn::Dataset> open_data(const DataOptions& options, nn::Network& network,
                                             bool train, const std::string& augment,
                                             int64_t limit) {
  nn::DataOptions how;
  how.spec = options.data;
  how.train = train;
  how.preprocessing = preprocessing_for(network, options.mean, options.std);
  set_augmentation(augment, how.preprocessing);
  how.fetch = download;
  std::shared_ptr<const nn::Dataset> data = nn::open_dataset(how);
  const Shape output = network.output_shape();
  if (output.rank() == 1 && data->classes() > output[0])
    throw Error(message("data", "expected at most ", output[0],
                        " classes, as the network's output, got ", data->classes(), " in ",
                        options.data));
  if (limit > 0 && limit < data->size()) data = std::make_shared<Subset>(data, limit);
  return data;
}

}  // namespace kaiseki::cli
