// SPDX-License-Identifier: MIT
// crash_serve POINT TIMES serve ...: runs `kaiseki serve`. Kills it (SIGKILL) when it passes the
// labeled point for the TIMES-th time. If TIMES is 0, it is not killed.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "cli/commands.h"
#include "dist/pool/crash_point.h"

namespace {

std::string fatal_point;
int times_left = 0;

void die_there(std::string_view point) {
  if (point == fatal_point && --times_left == 0) ::kill(::getpid(), SIGKILL);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return 2;
  fatal_point = argv[1];
  times_left = std::atoi(argv[2]);
  kaiseki::dist::set_crash_hook(die_there);
  const auto command = kaiseki::cli::parse_command_line(argc - 2, argv + 2);
  return kaiseki::cli::run_command(std::get<kaiseki::cli::ServeCommand>(command.value()));
} catch (const std::exception& error) {
  std::fprintf(stderr, "crash_serve: %s\n", error.what());
  return 1;
}
