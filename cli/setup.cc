// SPDX-License-Identifier: MIT
#include "cli/setup.h"

#include <algorithm>
#include <cmath>

#include "base/environment.h"
#include "base/error.h"
#include "cli/download.h"
#include "cli/for_option.h"
#include "cli/options/nearest.h"
#include "cli/options/tune_modes.h"
#include "cli/subset.h"
#include "cli/text.h"
#include "matrix/backend/backend.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/spill.h"
#include "matrix/memory/workspace.h"
#include "matrix/threads.h"
#include "nn/data/augmentation.h"
#include "nn/io/npy.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

fs::path installed_models() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "share/kaiseki/models";
}

/// The names of the networks in a folder.
void add_models(const fs::path& folder, std::vector<std::string>& names) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
}

/// "; did you mean lenet?", or "" if no network has a similar name.
std::string suggested_model(const std::string& name) {
  std::vector<std::string> known;
  add_models("models", known);
  add_models(installed_models(), known);
  std::ranges::sort(known);
  const std::string meant = nearest(fs::path(name).stem().string(), known);
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

std::optional<uint64_t> workspace_limit(const std::string& text) {
  if (text == "auto") return std::nullopt;
  return text == "none" ? 0 : parse_bytes(text, "--workspace auto, none or");
}

OutOfCore out_of_core_policy(const std::string& name) {
  if (name == "off") return OutOfCore::off;
  return name == "always" ? OutOfCore::always : OutOfCore::automatic;
}

/// Throws Error unless there are no numbers, one for all channels, or one for each. `image` is
/// another number of them that is allowed.
void check_numbers(const char* option, const std::vector<float>& numbers, int channels,
                   int64_t image = 0) {
  const auto count = static_cast<int>(numbers.size());
  if (count <= 1 || count == channels || count == image) return;
  throw Error(std::string(option) + ": expected 1 number" +
              (channels > 1 ? " or " + std::to_string(channels) : "") + ", as the network has " +
              std::to_string(channels) + (channels > 1 ? " channels" : " channel") + ", got " +
              std::to_string(count));
}

}  // namespace

Device open_device(const DeviceOptions& options) {
  if (options.threads) set_thread_count(options.threads);
  Device device = Device::parse(options.device);
  set_default_device(device);
  if (!options.spill.empty()) for_option("--spill", [&] { set_spill_folder(options.spill); });
  set_out_of_core(out_of_core_policy(options.out_of_core));
  device.workspace().set_limit(workspace_limit(options.workspace));
  set_tune_policy({tune_mode(options.tune), options.deterministic});
  return device;
}

std::string describe_device(Device device) {
  const DeviceInfo info = device.info();
  if (!device.is_cpu()) return device.name() + " (" + info.name + ")";
  return "cpu (" + info.platform + ", " + std::to_string(thread_count()) +
         (thread_count() == 1 ? " thread)" : " threads)");
}

std::string describe_memory(Device device) {
  const MemoryAccount account = device.memory().account();
  return "in use " + format_bytes(account.in_use) + ", cached " + format_bytes(account.cached) +
         ", workspace " + format_bytes(account.workspace) + ", peak " + format_bytes(account.peak);
}

fs::path find_network(const std::string& name) {
  std::error_code error;
  if (fs::is_regular_file(name, error)) return name;
  const bool bare = name.find('/') == std::string::npos;
  std::vector<fs::path> places;
  if (bare) {
    const bool whole = name.ends_with(".json") || name.ends_with(".onnx");
    const std::string file = whole ? name : name + ".json";
    if (!whole) places = {file};
    places.push_back(fs::path("models") / file);
    places.push_back(installed_models() / file);
  }
  std::string looked = name;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, error)) return place;
    looked += ", " + place.string();
  }
  if (fs::is_directory(name, error)) throw Error(name + ": expected a network, got a folder");
  const bool is_short = shortened(name) == name;
  throw Error(shortened(name) + ": no such file or network" +
              (is_short ? ", looked for " + looked + suggested_model(name) : ""));
}

std::string title(const std::string& name, const fs::path& file) {
  return printable(name.empty() ? file.stem().string() : name);
}

nn::Preprocessing preprocessing_for(const nn::Network& network, int resize) {
  const Shape input = network.input_shape();
  if (input.rank() != 3)
    throw Error(message("data", "expected a network whose input is [channels, height, width], got ",
                        input));
  nn::Preprocessing how;
  how.channels = static_cast<int>(input[0]);
  how.height = static_cast<int>(input[1]);
  how.width = static_cast<int>(input[2]);
  how.resize = resize;
  return how;
}

std::vector<float> mean_for(const nn::Network& network, const std::vector<float>& mean,
                            const std::string& mean_image) {
  if (mean_image.empty()) return mean;
  if (!mean.empty()) throw Error("--mean-image: expected no --mean beside it, got both");
  const Tensor image = for_option("--mean-image", [&] { return nn::read_npy(mean_image); });
  const auto fail = [&](const auto&... found) {
    throw Error(text_from("--mean-image: expected finite numbers f32 of the network's input, ",
                          network.input_shape(), ", got ", found..., " in ", mean_image));
  };
  if (image.dtype() != DType::f32 || image.shape() != network.input_shape())
    fail(dtype_name(image.dtype()), " ", image.shape());
  const std::vector<float> values = image.to_vector();
  for (const float value : values)
    if (!std::isfinite(value)) fail(value);
  return values;
}

nn::Normalization normalization_for(const nn::Network& network, const std::vector<float>& mean,
                                    const std::vector<float>& std) {
  const auto channels = static_cast<int>(network.input_shape()[0]);
  check_numbers("--mean", mean, channels, network.input_shape().elements());
  check_numbers("--std", std, channels);
  return {mean, std};
}

std::shared_ptr<const nn::Dataset> open_data(const DataFlags& options, nn::Network& network,
                                             bool train, const std::string& augment,
                                             int64_t limit) {
  nn::DataOptions how;
  how.spec = options.data;
  how.train = train;
  how.preprocessing = preprocessing_for(network, options.resize);
  how.normalization = normalization_for(network, options.mean, options.std);
  how.preprocessing.as_stored = options.as_stored;
  nn::set_augmentation(augment, how.preprocessing);
  how.fetch = download;
  std::shared_ptr<const nn::Dataset> data =
      for_option("--data", [&] { return nn::open_dataset(how); });
  const Shape output = network.output_shape();
  if (output.rank() == 1 && data->classes() > output[0])
    throw Error(text_from("--data: expected at most ", output[0],
                          " classes, as the network's output, got ", data->classes(), " in ",
                          options.data));
  if (limit > 0 && limit < data->size()) data = std::make_shared<Subset>(data, limit);
  return data;
}

}  // namespace kaiseki::cli
