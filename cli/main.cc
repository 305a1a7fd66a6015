// SPDX-License-Identifier: MIT
// The command kaiseki: parses the command line and runs one subcommand. Prints an exception as one
// line and exits with status 1.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace {

/// The text on one line, without control characters. The middle of very long words is left out.
std::string one_line(std::string text) {
  using namespace kaiseki;
  constexpr size_t kLongest = 200, kEnd = 20;
  std::ranges::replace(text, '\n', ' ');
  std::vector<std::string> words = cli::split(text, ' ');
  for (std::string& word : words) {
    word = cli::printable(word);
    if (word.size() <= kLongest) continue;
    size_t end = word.size() - kEnd;
    while (first_character(word.substr(end)).bytes == 0) ++end;
    word = cli::shortened(word) + word.substr(end);
  }
  return cli::join(words, " ");
}

int fail(const char* what) {
  kaiseki::cli::clear_live_line();
  std::fflush(stdout);
  std::fprintf(stderr, "kaiseki: %s\n", one_line(what).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kaiseki;
  set_log_sink([](LogLevel level, std::string_view text) {
    if (level == LogLevel::info) return cli::draw_live_line(one_line(std::string(text)));
    cli::clear_live_line();
    std::fprintf(stderr, "kaiseki: warning: %s\n", one_line(std::string(text)).c_str());
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
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(("cannot use " + error.path1().string() + ": " + error.code().message()).c_str());
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
