// SPDX-License-Identifier: MIT
// kaiseki export
#include <cstdio>

#include "cli/commands.h"
#include "cli/setup.h"
#include "cli/weights_file.h"

namespace kaiseki::cli {

int run_command(const ExportCommand& c) {
  nn::Network network = nn::Network::load(find_network(c.network), Device::cpu());
  WeightsInfo info;
  const bool needed = !network.parameters().empty() || !c.weights.empty();
  if (needed) info = load_weights_for(c.weights, network);
  expect_to_save("--output", c.output, network, info);
  save_weights_of(c.output, network, info);
  std::printf("written  %s\n", c.output.c_str());
  return 0;
}

}  // namespace kaiseki::cli
