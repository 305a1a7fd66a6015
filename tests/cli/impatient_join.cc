// SPDX-License-Identifier: MIT
// impatient_join URL TOKEN_FILE SECONDS: kaiseki join with one thread. It gives up a coordinator
// that sends nothing for SECONDS, where kaiseki join waits a minute.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "cli/state_folder.h"
#include "dist/net/author.h"
#include "dist/node/node.h"
#include "dist/samples/samples.h"

using namespace kaiseki;

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  dist::NodeOptions how;
  how.wire.url = dist::parse_coordinator_url(argv[1]);
  how.wire.token = cli::read_token(argv[2]);
  how.wire.silence = std::atof(argv[3]);
  how.functions = dist::sample_functions();
  how.info = {.name = "impatient", .threads = 1, .gflops = 1};
  how.log = [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  dist::Node(std::move(how)).run();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
