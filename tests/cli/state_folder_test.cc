// SPDX-License-Identifier: MIT
#include "cli/state_folder.h"

#include <doctest/doctest.h>

#include <barrier>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/folder.h"

namespace fs = std::filesystem;
using kaiseki::cli::token_of;

TEST_CASE("servers that start at the same time agree on a new token") {
  constexpr int kServers = 8;
  for (int round = 0; round < 50; ++round) {
    const kaiseki::test::Folder folder;
    const fs::path file = folder.path / "author.token";
    std::vector<std::string> tokens(kServers);
    std::barrier start(kServers);
    {
      std::vector<std::jthread> servers;
      for (std::string& token : tokens)
        servers.emplace_back([&] {
          start.arrive_and_wait();
          token = token_of(file);
        });
    }
    CHECK(std::set(tokens.begin(), tokens.end()).size() == 1);
    CHECK(tokens[0] == kaiseki::cli::read_token(file));
    CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
    CHECK((fs::status(file).permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
          fs::perms::none);
  }
}
