// SPDX-License-Identifier: MIT
// Any text as a network. It loads and runs, or throws Error, within 32 MiB of tensors.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "matrix/memory/allocator.h"
#include "nn/network.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kaiseki;
  constexpr int64_t kSmall = 4096;
  Device::cpu().memory().set_budget(uint64_t{32} << 20);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    nn::Network network = nn::Network::parse(text, "fuzz", Device::cpu());
    const Shape input = network.input_shape();
    int64_t work = input.elements();
    for (const nn::LayerSummary& layer : network.summary())
      work += layer.multiply_adds + layer.output.elements() + layer.parameters;
    nn::Network::parse(network.json(), "fuzz again", Device::cpu());
    if (work > kSmall) return 0;
    Shape batch = {1};
    for (int64_t dim : input) batch.push_back(dim);
    network.backward(network.forward(Tensor::zeros(batch, DType::f32, Device::cpu())));
  } catch (const Error&) {
  }
  return 0;
}
