// SPDX-License-Identifier: MIT
// kaiseki run: tensors in, tensors out, for comparing with any other framework.
#include <filesystem>
#include <map>

#include "cli/commands.h"
#include "cli/setup.h"
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

void forward_by_name(const RunCommand& c, nn::Network& network, nn::Phase phase,
                     const std::map<std::string, std::string>& outputs) {
  std::map<std::string, Tensor> inputs;
  for (const auto& [name, file] : by_name(c.inputs, "--input")) inputs[name] = nn::read_npy(file);
  const auto results = network.forward(inputs, phase);
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
  const Tensor y = network.forward(nn::read_npy(inputs.at("")), phase);
  nn::write_npy(outputs.at(""), y);
  if (c.grad_output.empty()) return 0;

  const Tensor grad_output = nn::read_npy(c.grad_output);
  if (grad_output.shape() != y.shape())
    throw Error(message(c.grad_output, "expected the output's shape ", y.shape(), ", got ",
                        grad_output.shape()));
  network.zero_grad();
  const Tensor grad_input = network.backward(grad_output);
  const std::filesystem::path folder = c.grads;
  std::filesystem::create_directories(folder);
  nn::write_npy(folder / "input.npy", grad_input);
  for (const nn::Parameter& parameter : network.parameters())
    nn::write_npy(folder / (parameter.name + ".npy"), parameter.grad);
  return 0;
}

}  // namespace kaiseki::cli
