// SPDX-License-Identifier: MIT
// kaiseki run: reads and writes tensors, for comparison with other frameworks.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/for_option.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "cli/weights_file.h"
#include "nn/io/npy.h"

namespace kaiseki::cli {
namespace {

using FilesByName = std::map<std::string, std::string>;

/// Parses NAME=FILE, or FILE alone for the first of `names`.
FilesByName by_name(const std::vector<std::string>& arguments, const std::string& option,
                    const std::vector<std::string>& names) {
  FilesByName files;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    const bool named = equals != std::string::npos;
    const std::string name = named ? argument.substr(0, equals) : names[0];
    const std::string file = named ? argument.substr(equals + 1) : argument;
    if (std::ranges::find(names, name) == names.end())
      throw Error(option + ": expected " + (names.size() > 1 ? "one of the names " : "the name ") +
                  join(names, ", ") + ", got '" + name + "'");
    if (file.empty()) throw Error(option + ": expected NAME=FILE, got '" + argument + "'");
    if (!files.emplace(name, file).second)
      throw Error(option + ": expected each name once, got '" + argument + "' again");
  }
  return files;
}

/// Adds the file's name to the network's errors about a tensor's shape or type.
template <typename Body>
auto naming(const std::string& files, const Body& body) {
  try {
    return body();
  } catch (const ShapeError& error) {
    throw ShapeError(files + ": " + error.what());
  }
}

/// Makes a file name from a layer's name, which may hold any bytes. Bytes that would leave the
/// folder or are not text are escaped as in a URL (%2F).
std::string file_name(const std::string& tensor) {
  std::string name;
  for (const char c : tensor) {
    const auto byte = static_cast<unsigned char>(c);
    if (c != '/' && c != '%' && byte >= 0x20 && byte != 0x7f) {
      name += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "%%%02X", byte);
    name += escaped;
  }
  return name + ".npy";
}

void make_gradients_folder(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error))
    throw Error("--grads: expected a folder, got the file " + folder);
  std::filesystem::create_directories(folder, error);
  if (error) throw Error("--grads: cannot make the folder " + folder + ": " + error.message());
}

std::map<std::string, Tensor> forward(nn::Network& network, nn::Phase phase,
                                      const FilesByName& files) {
  std::map<std::string, Tensor> inputs;
  std::vector<std::string> given;
  for (const std::string& name : network.input_names()) {
    const auto at = files.find(name);
    if (at == files.end()) throw Error("--input: expected a file for " + name + ", got none");
    inputs[name] = for_option("--input", [&] { return nn::read_npy(at->second); });
    given.push_back(at->second);
  }
  return naming(join(given, ", "), [&] { return network.forward(inputs, phase); });
}

}  // namespace

int run_command(const RunCommand& c) {
  const Device device = open_device(c.device);
  nn::Network network = nn::Network::load(find_network(c.network), device);
  if (!network.has_weights()) network.initialize(c.seed);
  if (!c.weights.empty()) load_weights_for(c.weights, network);
  const nn::Phase phase = c.phase == "train" ? nn::Phase::train : nn::Phase::test;
  if (!c.grads.empty()) make_gradients_folder(c.grads);
  const std::vector<std::string> names = network.output_names();
  const FilesByName inputs = by_name(c.inputs, "--input", network.input_names());
  const FilesByName outputs = by_name(c.outputs, "--output", names);
  const bool single = inputs.size() == 1 && outputs.size() == 1 && outputs.contains(names[0]);
  if (!c.grad_output.empty() && !single)
    throw Error(
        "--grad-output requires exactly one --input and one --output, the network's first output");
  const auto results = forward(network, phase, inputs);
  for (const auto& output : outputs)
    for_option("--output", [&] { nn::write_npy(output.second, results.at(output.first)); });
  if (c.grad_output.empty()) return 0;

  const Shape& shape = results.at(names[0]).shape();
  const Tensor grad_output =
      for_option("--grad-output", [&] { return nn::read_npy(c.grad_output); });
  naming(c.grad_output, [&] {
    require(grad_output.shape() == shape, "run", "expected the output's shape ", shape, ", got ",
            grad_output.shape());
    require(grad_output.dtype() == DType::f32, "run", "expected f32, got ",
            dtype_name(grad_output.dtype()));
  });
  network.zero_grad();
  const Tensor grad_input = network.backward(grad_output);
  const std::filesystem::path folder = c.grads;
  nn::write_npy(folder / "input.npy", grad_input);
  const std::vector<Tensor>& gradients = network.gradients().values;
  for (size_t i = 0; i < gradients.size(); ++i)
    nn::write_npy(folder / file_name(network.parameters()[i].name), gradients[i]);
  return 0;
}

}  // namespace kaiseki::cli
