// SPDX-License-Identifier: MIT
// kaiseki export
#include <cstdio>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/for_option.h"
#include "cli/setup.h"
#include "cli/text.h"
#include "cli/weights_file.h"
#include "ml/model/onnx.h"

namespace kaiseki::cli {

namespace {

/// A model of kaiseki fit.
void export_model(const ExportCommand& c) {
  if (!c.output.ends_with(".onnx"))
    throw Error("--output: expected a .onnx file for a model of kaiseki fit, got '" +
                shortened(c.output) + "'");
  const ml::SavedModel saved = ml::load_model(c.network);
  for_option("--output", [&] { ml::write_onnx(c.output, saved); });
}

void export_network(const ExportCommand& c) {
  nn::Network network = nn::Network::load(find_network(c.network), Device::cpu());
  WeightsInfo info;
  const bool needed = !network.parameters().empty() || !c.weights.empty();
  if (needed) info = load_weights_for(c.weights, network);
  expect_to_save("--output", c.output, network, info);
  save_weights_of(c.output, network, info);
}

}  // namespace

int run_command(const ExportCommand& c) {
  if (c.network.ends_with(".safetensors"))
    export_model(c);
  else
    export_network(c);
  std::printf("written  %s\n", c.output.c_str());
  return 0;
}

}  // namespace kaiseki::cli
