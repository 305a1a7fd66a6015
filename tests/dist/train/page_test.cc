// SPDX-License-Identifier: MIT
// The program of docs/pool-training.md. The test compares it with the page.
#include "tests/docs/page.h"

#include <filesystem>

#include "dist/train/local_nodes.h"
#include "dist/train/pool_updater.h"
#include "nn/train/trainer.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;

// clang-format off
TEST_CASE("pool-training: the program trains a network over two nodes") {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(test::source_dir());
// page: pool-training
nn::Network network = nn::Network::load("models/lenet.json");
nn::Iterator iterator(nn::open_dataset({.spec = "digits:2000"}), {.batch_size = 64});
nn::Optimizer optimizer({.name = "momentum"});
dist::LocalNodes nodes({{.name = "a"}, {.name = "b"}}, 1);
dist::PoolUpdater updater(network, optimizer, iterator, {.base = 0.02}, nodes,
                          {.mode = dist::PoolMode::border});
nn::Trainer trainer(updater, {.epochs = 2});
trainer.run();
// page: end
  std::filesystem::current_path(before);
  CHECK(trainer.epoch_totals().accuracy() > 0.8);
  CHECK(updater.counts().accepted == 2 * 2 * 125);
  CHECK(test::code_blocks(test::text_of("docs/pool-training.md"), "cpp")[0] ==
        test::between(test::text_of("tests/dist/train/page_test.cc"), "// page: pool-training\n", "// page: end"));
}
// clang-format on
