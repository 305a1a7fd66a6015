// SPDX-License-Identifier: MIT
// kaiseki run: tensors in, tensors out, for comparing with any other framework.
#include <cstdio>
#include <filesystem>
#include <map>

#include "cli/commands.h"
#include "cli/setup.h"
#include "cli/weights_file.h"
#include "matrix/error.h"
#include "nn/io/npy.h"

namespace kaiseki::cli {
namespace {

/// NAME=FILE, or FILE alone under the name "".
std::map<std::string, std::string> by_name(const std::vector<std::string>& arguments,
                                           const char* flag) {
  std::map<std::string, std::string> files;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    const bool named = equals != std::string::npos;
    const std::string name = named ? argument.substr(0, equals) : "";
    if (!files.emplace(name, named ? argument.substr(equals + 1) : argument).second)
      throw Error(std::string(flag) + ": expected each name once, got '" + argument + "' again");
  }
  if (files.contains("") && files.size() > 1)
    throw Error(std::string(flag) + ": expected NAME=FILE for each of several tensors");
  return files;
}

/// What the network says of a tensor's shape or type, with the file's name before it.
template <typename Body>
auto naming(const std::string& files, const Body& body) {
  try {
    return body();
  } catch (const ShapeError& error) {
    throw ShapeError(files + ": " + error.what());
  }
}

/// A layer's name may hold any bytes: what would lead out of the folder, or is no text, becomes
/// %2F as in a URL.
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

void forward_by_name(const RunCommand& c, nn::Network& network, nn::Phase phase,
                     const std::map<std::string, std::string>& outputs) {
  std::map<std::string, Tensor> inputs;
  std::string files;
  for (const auto& [name, file] : by_name(c.inputs, "--input")) {
    inputs[name] = nn::read_npy(file);
    files += (files.empty() ? "" : ", ") + file;
  }
  const auto results = naming(files, [&] { return network.forward(inputs, phase); });
  for (const auto& [name, file] : outputs) {
    auto found = name.empty() && results.size() == 1 ? results.begin() : results.find(name);
    if (found == results.end())
      throw Error("--output: expected the name of an output, got '" + name + "'");
    nn::write_npy(file, found->second);
  }
}

}  // namespace

int run_command(const RunCommand& c) {
  const Device device = open_device(c.device);
  nn::Network network = nn::Network::load(find_network(c.network), device);
  if (!network.has_weights()) network.initialize(c.seed);
  if (!c.weights.empty()) load_weights_for(c.weights, network);
  const nn::Phase phase = c.phase == "train" ? nn::Phase::train : nn::Phase::test;
  const auto inputs = by_name(c.inputs, "--input"), outputs = by_name(c.outputs, "--output");
  if (!inputs.contains("") || !outputs.contains("")) {
    if (!c.grad_output.empty())
      throw Error("--grad-output: expected a network with one input and one output, got names");
    forward_by_name(c, network, phase, outputs);
    return 0;
  }
  const std::string& input = inputs.at("");
  const Tensor y = naming(input, [&] { return network.forward(nn::read_npy(input), phase); });
  nn::write_npy(outputs.at(""), y);
  if (c.grad_output.empty()) return 0;

  const Tensor grad_output = nn::read_npy(c.grad_output);
  naming(c.grad_output, [&] {
    require(grad_output.shape() == y.shape(), "run", "expected the output's shape ", y.shape(),
            ", got ", grad_output.shape());
    require(grad_output.dtype() == DType::f32, "run", "expected f32, got ",
            dtype_name(grad_output.dtype()));
  });
  network.zero_grad();
  const Tensor grad_input = network.backward(grad_output);
  const std::filesystem::path folder = c.grads;
  std::filesystem::create_directories(folder);
  nn::write_npy(folder / "input.npy", grad_input);
  for (const nn::Parameter& parameter : network.parameters())
    nn::write_npy(folder / file_name(parameter.name), parameter.grad);
  return 0;
}

}  // namespace kaiseki::cli
