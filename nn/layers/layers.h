// SPDX-License-Identifier: MIT
// Every layer's factory, and what several layers share.
#pragma once

#include "matrix/error.h"
#include "matrix/ops/elementwise.h"
#include "nn/layer.h"

namespace kaiseki::nn {

std::unique_ptr<Layer> make_add(LayerParams& params);
std::unique_ptr<Layer> make_average_pooling(LayerParams& params);
std::unique_ptr<Layer> make_batch_normalization(LayerParams& params);
std::unique_ptr<Layer> make_concatenation(LayerParams& params);
std::unique_ptr<Layer> make_convolution(LayerParams& params);
std::unique_ptr<Layer> make_dropout(LayerParams& params);
std::unique_ptr<Layer> make_flatten(LayerParams& params);
std::unique_ptr<Layer> make_fully_connected(LayerParams& params);
std::unique_ptr<Layer> make_global_pooling(LayerParams& params);
std::unique_ptr<Layer> make_leaky_relu(LayerParams& params);
std::unique_ptr<Layer> make_local_response_normalization(LayerParams& params);
std::unique_ptr<Layer> make_max_pooling(LayerParams& params);
std::unique_ptr<Layer> make_mean_squared_error(LayerParams& params);
std::unique_ptr<Layer> make_relu(LayerParams& params);
std::unique_ptr<Layer> make_sigmoid(LayerParams& params);
std::unique_ptr<Layer> make_softmax(LayerParams& params);
std::unique_ptr<Layer> make_softmax_cross_entropy(LayerParams& params);
std::unique_ptr<Layer> make_tanh(LayerParams& params);

/// The only input. Throws ShapeError when there are more, or when its rank is not the wanted one.
inline const Shape& only_input(std::span<const Shape> inputs, int rank = -1,
                               std::string_view form = "") {
  require(inputs.size() == 1, "layer", "expected one input, got ", inputs.size());
  require(rank < 0 || inputs[0].rank() == rank, "layer", "expected an input of shape ", form,
          ", got ", inputs[0]);
  return inputs[0];
}

/// x with all of a sample's dimensions as one.
inline Tensor as_rows(const Tensor& x) {
  int64_t elements = 1;
  for (int axis = 1; axis < x.rank(); ++axis) elements *= x.dim(axis);
  return x.rank() == 2 ? x : x.reshape({x.dim(0), elements});
}

/// activation(expression) of the bindings, in one pass over memory.
Tensor activated(const FusedActivation& activation, const std::string& expression,
                 const std::vector<Binding>& bindings);
/// y = activation(y), in place.
void apply_activation(const FusedActivation& activation, Tensor& y);
/// dy times the derivative at output y: in place if allowed, else a new tensor.
Tensor activation_gradient(const FusedActivation& activation, const Tensor& y, const Tensor& dy,
                           bool may_overwrite);

}  // namespace kaiseki::nn
