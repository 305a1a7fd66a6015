// SPDX-License-Identifier: MIT
// Layer: one kind of step in a network, with an explicit forward and backward pass.
// docs/adding-a-layer.md shows how to write one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "matrix/conv/solver.h"
#include "matrix/ops/pool.h"
#include "matrix/random.h"
#include "matrix/tensor.h"
#include "nn/initializer.h"
#include "nn/layer_params.h"
#include "nn/network.h"

namespace kaiseki::nn {

/// What a layer becomes for given inputs. Shapes are those of one sample, without the batch.
struct LayerShape {
  struct Trained {
    std::string name;  // "weight"
    Shape shape;
    Initializer initializer;
    int64_t fan_in = 1, fan_out = 1;
    bool decay = true;
  };
  struct Kept {
    std::string name;  // "running_mean"
    Shape shape;
    float value = 0;
  };
  Shape output;
  std::vector<Trained> parameters = {};
  std::vector<Kept> states = {};
  int64_t multiply_adds = 0;
  std::optional<ConvProblem> convolution = {};  // forward, of one sample
};

/// An elementwise function that the layer before can apply itself.
struct FusedActivation {
  Activation kind = Activation::none;
  float slope = 0.01f;  // of leaky_relu
};

/// A maximum of windows that the layer before can take itself, before the activation.
using FusedPooling = std::optional<Pool2d>;

/// Which tensors of the forward pass the backward pass reads.
struct Keeps {
  bool input = false, output = false;
};

struct ForwardPass {
  Phase phase;
  std::span<const Tensor> inputs;  // [n, ...] each
  std::span<Parameter> parameters;
  std::span<State> states;
  Tensor targets;              // of losses
  Random random;               // this layer's own stream, new in every step
  int64_t first_sample = 0;    // of this batch, in the one that the stream is drawn for
  FusedActivation activation;  // to apply, where fuses_activation()
  FusedPooling pooling;        // to apply, where fuses_pooling()
  bool may_overwrite = false;  // the output may take the first input's storage
  bool keep = false;           // a backward pass follows: put what it needs in `saved`
  std::vector<Tensor>& saved;
};

/// The forward pass once more, for a layer of one input.
struct RemakePass {
  Phase phase;
  const Tensor& input;
  std::span<Parameter> parameters;
  std::span<State> states;
  FusedActivation activation;
  const std::vector<Tensor>& saved;
};

struct BackwardPass {
  Phase phase;
  FusedPooling pooling;             // as in the forward pass: grad_output is that of its output
  std::span<const Tensor> inputs;   // defined where keeps().input
  std::span<const Shape> shapes;    // of the inputs, with the batch
  Tensor output;                    // defined where keeps().output
  Tensor grad_output;               // losses: not defined
  bool may_overwrite = false;       // grad_output belongs to this pass
  float scale = 1;                  // of losses: the gradient of the sum of all losses
  std::span<Parameter> parameters;  // gradients are added to; see writes_gradients()
  std::span<State> states;
  std::vector<Tensor>& saved;
  std::vector<bool> wanted;         // which inputs need a gradient
  std::vector<Tensor> grad_inputs;  // to fill in, where wanted
  bool shared = false;              // the gradients of several inputs are one tensor
};

class Layer {
 public:
  virtual ~Layer() = default;
  /// Throws ShapeError "expected ..., got ...".
  virtual LayerShape infer(std::span<const Shape> inputs) = 0;
  virtual Tensor forward(ForwardPass& pass) const = 0;
  virtual void backward(BackwardPass& pass) const = 0;
  /// It calls keep_grad() of every parameter, and so spares the zeros a pass begins with.
  virtual bool writes_gradients() const { return false; }

  virtual Keeps keeps() const { return {}; }
  /// A loss reads `targets`, gives one element (the mean over the batch), and begins the backward
  /// pass.
  virtual bool is_loss() const { return false; }
  virtual double loss_weight() const { return 1; }
  /// forward() applies pass.activation in the same pass over memory.
  virtual bool fuses_activation() const { return false; }
  /// forward() takes pass.pooling, then pass.activation, and backward() goes back through the
  /// pooling: for layers that keep no output.
  virtual bool fuses_pooling() const { return false; }
  /// remake() gives the output again from the input, in little time: the output is then let go
  /// until the backward pass reads it. For layers of one input that they keep.
  virtual bool remakes_output() const { return false; }
  virtual Tensor remake(const RemakePass&) const { return {}; }
  /// This layer is nothing but that function.
  virtual std::optional<FusedActivation> as_activation() const { return std::nullopt; }
  /// The output is a view of the input, or the input itself.
  virtual bool is_view(Phase) const { return false; }
  /// This layer is nothing but that maximum.
  virtual FusedPooling as_pooling() const { return std::nullopt; }
  /// A maximum of windows: an increasing function may as well be applied after it.
  virtual bool takes_maximum() const { return false; }
  /// Softmax over the elements of a sample: cross-entropy takes its input instead.
  virtual bool is_softmax() const { return false; }
};

using LayerFactory = std::function<std::unique_ptr<Layer>(LayerParams& params)>;

/// Makes a type of layer known to networks that are loaded from now on. Throws Error for a name
/// that is taken.
void register_layer(const std::string& type, LayerFactory factory);
/// Throws ParseError for an unknown type.
std::unique_ptr<Layer> make_layer(std::string_view type, LayerParams& params);
/// All names, sorted.
std::vector<std::string> layer_types();

}  // namespace kaiseki::nn
