// SPDX-License-Identifier: MIT
// ONNX. A file loads, runs and survives export and import, or it throws Error, within 32 MiB of
// tensors.
#include "matrix/memory/allocator.h"
#include "nn/network.h"
#include "nn/onnx/onnx.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki;

KAISEKI_FUZZ(bytes) {
  constexpr int64_t kSmall = 4096;
  Device::cpu().memory().set_budget(uint64_t{32} << 20);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  nn::Network network = nn::Network::parse(text, "fuzz.onnx", Device::cpu());
  nn::Network::parse(network.json(), "fuzz again", Device::cpu());
  const Shape input = network.input_shape();
  int64_t work = input.elements();
  for (const nn::LayerSummary& layer : network.summary())
    work += layer.multiply_adds + layer.output.elements() + layer.parameters;
  if (work > kSmall) return;
  Shape batch = {1};
  for (int64_t dim : input) batch.push_back(dim);
  network.forward(Tensor::zeros(batch, DType::f32, Device::cpu()));
  ByteVector written;
  try {
    written = nn::encode_onnx(network);
  } catch (const Error&) {  // a pooling that ONNX cannot express
    return;
  }
  if (nn::encode_onnx(network) != written) __builtin_trap();
}
