// SPDX-License-Identifier: MIT
// A program that embeds Kaiseki. It loads a network, trains it for a few steps on built-in digits,
// and predicts.
#include <kaiseki.h>

#include <iostream>

int main(int argc, char** argv) try {
  using namespace kaiseki;
  if (argc != 2) throw Error("usage: consumer NET.json");
  set_default_device(Device::parse("auto"));

  nn::Network network = nn::Network::load(argv[1]);
  nn::Iterator batches(nn::open_dataset({.spec = "digits:4000"}), {.batch_size = 50});
  nn::Optimizer optimizer({.name = "momentum"});

  nn::Batch batch;
  for (int step = 1; step <= 100; ++step) {
    batches.next(batch);
    network.zero_grad();
    auto [loss, probabilities] = network.forward_loss(batch.inputs(), batch.labels);
    network.backward();
    optimizer.step(network.parameters(), network.gradients(), 0.02);
    if (step % 20 == 0) std::cout << "step " << step << "  loss " << loss.item() << '\n';
  }

  batches.next(batch);
  auto predicted = argmax(network.forward(batch.inputs()), 1).to_vector<int32_t>();
  auto expected = batch.labels.to_vector<int32_t>();
  int right = 0;
  for (size_t i = 0; i < expected.size(); ++i) right += predicted[i] == expected[i];
  std::cout << right << " of " << expected.size() << " predicted rightly\n";
  return right * 2 > static_cast<int>(expected.size()) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "consumer: " << error.what() << '\n';
  return 1;
}
