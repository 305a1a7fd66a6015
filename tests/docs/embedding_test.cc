// SPDX-License-Identifier: MIT
// The programs of README.md, docs/guides/embed.md and docs/training.md. This file has their code
// and includes only kaiseki.h of Kaiseki's headers. The tests compare the two texts.
// clang-format off
// page: README
#include <kaiseki.h>
using namespace kaiseki;

// page: end
// clang-format on
#include <unistd.h>

#include <filesystem>

#include "tests/docs/page.h"
#include "tests/support/source_dir.h"

namespace fs = std::filesystem;

namespace {

/// A folder that contains models/. The programs run in it.
class WithModels {
 public:
  WithModels()
      : before_(fs::current_path()),
        folder_(fs::temp_directory_path() / ("kaiseki_docs_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    fs::create_directory_symlink(fs::path(test::source_dir()) / "models", folder_ / "models");
    fs::current_path(folder_);
  }
  ~WithModels() {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

 private:
  fs::path before_, folder_;
};

double accuracy(nn::Network& network) {
  return nn::evaluate(network, nn::open_dataset({.spec = "digits:500", .train = false})).top1;
}

std::string own_code() { return test::text_of("tests/docs/embedding_test.cc"); }

}  // namespace

// clang-format off
TEST_CASE("README: the program trains a network") {
  WithModels here;
// page: README, the rest
nn::Network network = nn::Network::load("models/lenet.json");
nn::Iterator batches(nn::open_dataset({.spec = "digits:2000"}), {.batch_size = 64});
nn::Optimizer optimizer({.name = "momentum"});
nn::Updater updater(network, optimizer, batches, {.base = 0.01});
nn::Trainer(updater, {.epochs = 2}).run();
// page: end
  CHECK(accuracy(network) > 0.5);
  const std::string code = test::between(own_code(), "// page: README\n", "// page: end") +
                           test::between(own_code(), "// page: README, the rest\n", "// page: end");
  CHECK(test::code_blocks(test::text_of("README.md"), "cpp")[0] == code);
  CHECK(test::code_blocks(test::text_of("docs/guides/embed.md"), "cpp")[0] == code);
}

TEST_CASE("embed: the loop trains a network, and its weights can be saved and loaded") {
  WithModels here;
// page: a loop
nn::Network network = nn::Network::load("models/lenet.json");
nn::Iterator batches(nn::open_dataset({.spec = "digits:2000"}), {.batch_size = 64});
nn::Optimizer optimizer({.name = "momentum"});
nn::Batch batch;
while (batches.epoch() < 2) {
  batches.next(batch);
  network.zero_grad();
  auto [loss, output] = network.forward_loss(batch.inputs(), batch.labels);
  network.backward();
  optimizer.step(network.parameters(), network.gradients(), 0.01);
}
// page: end
  CHECK(accuracy(network) > 0.5);
  const std::string page = test::text_of("docs/guides/embed.md");
  CHECK(test::code_blocks(page, "cpp")[1] == test::between(own_code(), "// page: a loop\n", "// page: end"));

  const double expected = accuracy(network);
  nn::save_weights("net.safetensors", network);
  network.initialize(1);
  CHECK(accuracy(network) != expected);
  nn::load_weights("net.safetensors", network);
  CHECK(accuracy(network) == expected);
  CHECK(argmax(network.forward(batch.inputs()), 1).to_vector<int32_t>().size() == size_t(batch.images.shape()[0]));
  for (const char* call : {"`nn::save_weights(\"net.safetensors\", network)`", "`nn::load_weights(\"net.safetensors\", network)`",
                           "`set_default_device(Device::parse(\"auto\"))`", "`argmax(network.forward(batch.inputs()), 1).to_vector<int32_t>()`"})
    CHECK_MESSAGE(page.find(call) != std::string::npos, call);
}

TEST_CASE("README: an operation of one's own is one expression") {
  const Tensor x = Tensor::from({-2, 0, 3}, Shape{3});
// page: README, an operation
Tensor y = elementwise("a * x / (1 + abs(x))", {{"a", 2.0f}, {"x", x}});
// page: end
  CHECK(y.to_vector()[2] == doctest::Approx(1.5));
  CHECK(y.to_vector()[0] == doctest::Approx(-4.0 / 3));
  const std::string line = test::between(own_code(), "// page: README, an operation\n", "// page: end");
  CHECK(test::code_blocks(test::text_of("README.md"), "cpp")[1] == line);
  CHECK(test::code_blocks(test::text_of("docs/adding-an-operation.md"), "cpp")[0] == line);
}

TEST_CASE("training: the program trains a network and leaves checkpoints") {
  WithModels here;
// page: training
nn::Network network = nn::Network::load("models/lenet.json");
auto data = std::shared_ptr<const nn::Dataset>(nn::open_dataset({.spec = "digits:2000"}));
nn::Iterator iterator(data, {.batch_size = 64});
nn::Optimizer optimizer({.name = "adam"});
nn::Updater updater(network, optimizer, iterator, {.base = 0.001});
nn::Trainer trainer(updater, {.epochs = 3});
trainer.extend(std::make_unique<nn::Checkpointer>(nn::CheckpointerOptions{.folder = "runs/lenet"}));
trainer.run();
// page: end
  CHECK(accuracy(network) > 0.5);
  CHECK(nn::list_checkpoints("runs/lenet").size() == 3);
  CHECK(test::code_blocks(test::text_of("docs/training.md"), "cpp")[0] ==
        test::between(own_code(), "// page: training\n", "// page: end"));
}
// clang-format on
