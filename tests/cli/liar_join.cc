// SPDX-License-Identifier: MIT
// liar_join URL TOKEN_FILE LIE: a node that trains, and then makes of its gradients what LIE says:
// flip (their signs), nan (one number), shape (their dimensions in reverse).
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/state_folder.h"
#include "dist/net/author.h"
#include "dist/node/node.h"
#include "dist/node/training.h"
#include "dist/wire/tensors.h"
#include "matrix/conv/tuning.h"
#include "matrix/ops/elementwise.h"
#include "nn/io/bytes.h"

using namespace kaiseki;

namespace {

volatile std::sig_atomic_t ended = 0;

Tensor wrong(const Tensor& value, const std::string& lie) {
  if (lie == "flip") return elementwise("-x", {{"x", value}});
  std::vector<int64_t> dims(value.shape().begin(), value.shape().end());
  std::reverse(dims.begin(), dims.end());
  return value.reshape(Shape(dims));
}

nn::ByteVector lied(nn::ByteVector result, const std::string& lie) {
  if (lie == "nan") {
    const auto elements = nn::load_le<uint32_t>(&result[4]);
    nn::store_le<uint32_t>(0x7fc00000, &result[elements]);
    return result;
  }
  const dist::TensorMessage message = dist::decode_tensors(result, "result");
  std::vector<dist::WireTensor> tensors;
  for (const auto& [name, value] : message.tensors)
    tensors.push_back({name, name == "loss" || name == "output" ? value : wrong(value, lie)});
  return dist::encode_tensors(tensors, message.texts);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  std::signal(SIGTERM, [](int) { ended = 1; });
  set_conv_policy({.mode = TuneMode::off, .deterministic = true});
  const std::string lie = argv[3];
  dist::NodeOptions how;
  how.wire.url = dist::parse_coordinator_url(argv[1]);
  how.wire.token = cli::read_token(argv[2]);
  how.functions[dist::kTrainingFunction] = [lie, train = dist::training_function(Device::cpu())](
                                               nn::ByteView input,
                                               const dist::TicketContext& context) {
    return lied(train(input, context), lie);
  };
  how.stop = [] { return ended != 0; };
  how.info = {.name = "liar", .threads = 1, .gflops = 50};
  dist::Node(std::move(how)).run();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
