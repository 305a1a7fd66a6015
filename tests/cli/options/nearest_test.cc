// SPDX-License-Identifier: MIT
#include "cli/options/nearest.h"

#include <doctest/doctest.h>

namespace kaiseki::cli {

TEST_CASE("nearest() finds the word that was meant") {
  const std::vector<std::string> commands{"train", "eval", "predict", "bench"};
  CHECK(nearest("trian", commands) == "train");
  CHECK(nearest("tran", commands) == "train");
  CHECK(nearest("evall", commands) == "eval");
  CHECK(nearest("pred", commands) == "predict");
  CHECK(nearest("deploy", commands).empty());
  CHECK(nearest("TRAIN", commands) == "train");
  CHECK(nearest("evaluate", commands) == "eval");
  CHECK(nearest("test", commands) == "eval");
  CHECK(nearest("benchmarks", commands) == "bench");
  CHECK(nearest("", commands).empty());
  CHECK(nearest("--", commands).empty());
  CHECK(nearest(std::string(100000, 'a'), commands).empty());
  const std::vector<std::string> options{"--pool-port", "--pool-private", "--epochs", "--lr",
                                         "--data"};
  CHECK(nearest("--learning-rate", options) == "--lr");
  CHECK(nearest("--dataset", options) == "--data");
  CHECK(nearest("-epochs", options) == "--epochs");
  CHECK(nearest("--epoch", options) == "--epochs");
  CHECK(nearest("--pool-po", options) == "--pool-port");
  CHECK(nearest("--pool-p", options).empty());
  CHECK(nearest("resnet", {"lenet", "resnet18", "resnet50"}) == "resnet18");
}

}  // namespace kaiseki::cli
