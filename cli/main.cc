// SPDX-License-Identifier: MIT
// The command kaiseki: parses, runs one subcommand, and turns exceptions into one line and
// status 1.
#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "matrix/log.h"

namespace {

int fail(const char* what) {
  kaiseki::cli::clear_live_line();
  std::fflush(stdout);
  std::fprintf(stderr, "kaiseki: %s\n", what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kaiseki;
  set_log_sink([](LogLevel level, std::string_view text) {
    if (level == LogLevel::info) return cli::draw_live_line(std::string(text));
    cli::clear_live_line();
    std::fprintf(stderr, "kaiseki: warning: %.*s\n", static_cast<int>(text.size()), text.data());
  });
  try {
    auto command = cli::parse_command_line(argc, argv);
    int status = 0;
    if (command)
      status = std::visit([](const auto& chosen) { return cli::run_command(chosen); }, *command);
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) return fail("cannot write the output");
    return status;
  } catch (const std::bad_alloc&) {
    return fail("out of memory on the host");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
