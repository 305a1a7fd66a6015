// SPDX-License-Identifier: MIT
#include "nn/gradient_tar.h"

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "nn/io/tar_tensors.h"

namespace kaiseki::nn {
namespace {

Gradients& own_gradients(Network& network, std::string_view operation) {
  Gradients& gradients = network.gradients();
  require(gradients.momentum == 0, operation,
          "the gradients use the memory of an optimizer's velocity; call zero_grad() without the "
          "optimizer before the passes");
  return gradients;
}

}  // namespace

ByteVector gather_tar(Network& network) {
  const Gradients& gradients = own_gradients(network, "gather_tar");
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < gradients.values.size(); ++i)
    tensors.push_back({network.parameters()[i].name, gradients.values[i]});
  return encode_tar_tensors(tensors);
}

void add_tar(Network& network, ByteView tar) {
  Gradients& gradients = own_gradients(network, "add_tar");
  const std::string source = "gradients";
  const std::vector<NamedTensor> tensors = read_tar_tensors(tar, nullptr, source);
  const std::span<const Parameter> parameters = network.parameters();
  if (tensors.size() != parameters.size())
    throw ParseError(source, "index.json",
                     text_from("expected ", parameters.size(), " tensors, got ", tensors.size()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (tensors[i].name != parameter.name || tensors[i].value.shape() != parameter.value.shape())
      throw ParseError(
          source, "index.json",
          text_from("expected \"", parameter.name, "\" of shape ", parameter.value.shape().str(),
                    ", got \"", tensors[i].name.substr(0, 80), "\" of shape ",
                    tensors[i].value.shape().str()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor& gradient = gradients.values[i];
    update("g = g + x", {{"g", gradient}, {"x", tensors[i].value.to(gradient.device())}});
  }
}

}  // namespace kaiseki::nn
