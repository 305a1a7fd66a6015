// SPDX-License-Identifier: MIT
// Layer: one kind of step in a network, with an explicit forward and backward pass.
// docs/adding-a-layer.md shows how to write one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "matrix/activation.h"
#include "matrix/conv/problem.h"
#include "matrix/ops/pooling.h"
#include "matrix/random.h"
#include "matrix/tensor.h"
#include "nn/gather_over_machines.h"
#include "nn/initializer.h"
#include "nn/parameter.h"
#include "nn/phase.h"
#include "nn/settings.h"
#include "nn/sum_over_machines.h"

namespace kaiseki::nn {

class OnnxLayerWriter;

/// The output, parameters and states of a layer for given inputs. Shapes are of one sample, without
/// the batch.
struct LayerShape {
  struct ParameterSpec {
    std::string name;  // "weight"
    Shape shape;
    Initializer initializer;
    int64_t fan_in = 1, fan_out = 1;
    bool decay = true;
  };
  struct StateSpec {
    std::string name;  // "running_mean"
    Shape shape;
    float value = 0;
  };
  Shape output;
  std::vector<ParameterSpec> parameters = {};
  std::vector<StateSpec> states = {};
  int64_t multiply_adds = 0;
  double window_reads = 0;  // the values that the windows of pooling or normalization read, forward
  std::optional<ConvProblem> convolution = {};  // forward, of one sample
};

/// An elementwise function that the previous layer can apply.
struct FusedActivation {
  Activation kind = Activation::none;
  float slope = 0.01f;  // of leaky_relu
};

/// Max pooling that the previous layer can compute, before the activation.
using FusedPooling = std::optional<Pooling2d>;

/// The tensors of the forward pass that the backward pass reads.
struct BackwardReads {
  bool input = false, output = false;
};

struct ForwardPass {
  Phase phase;
  std::span<const Tensor> inputs;  // [n, ...] each
  std::span<const Parameter> parameters;
  std::span<State> states;
  Tensor targets;                  // of losses
  Random random;                   // the stream of this layer, new in every step
  int64_t first_sample = 0;        // the position of this batch in a larger one
  FusedActivation activation;      // applied if fuses_activation()
  FusedPooling pooling;            // applied if fuses_pooling()
  bool may_overwrite = false;      // the output may take the first input's storage
  bool save_for_backward = false;  // a backward pass follows: store its tensors in `saved`
  std::vector<Tensor>& saved;
  const SumOverMachines* sum = nullptr;  // if statistics are those of several machines
};

/// Computes the output of a layer with one input again.
struct RecomputePass {
  Phase phase;
  const Tensor& input;
  std::span<const Parameter> parameters;
  std::span<State> states;
  FusedActivation activation;
  const std::vector<Tensor>& saved;
};

struct BackwardPass {
  Phase phase;
  FusedPooling pooling;            // as in the forward pass; grad_output is the gradient after it
  std::span<const Tensor> inputs;  // defined if backward_reads().input
  std::span<const Shape> shapes;   // of the inputs, with the batch
  Tensor output;                   // defined if backward_reads().output
  Tensor grad_output;              // losses: not defined
  bool may_overwrite = false;      // backward() may overwrite grad_output
  float scale = 1;                 // of losses: the gradient of the sum of all losses
  std::span<const Parameter> parameters;
  std::span<Tensor> gradients;  // of the parameters: backward() adds to them
  std::span<const float> beta;  // see writes_gradients()
  std::span<State> states;
  std::vector<Tensor>& saved;
  std::vector<bool> needs_gradient;      // which inputs need a gradient
  std::vector<Tensor> grad_inputs;       // backward() sets them if needs_gradient
  const SumOverMachines* sum = nullptr;  // as in the forward pass
  const GatherOverMachines* gather = nullptr;
  bool weight_is_whole = false;  // backward() sets it: gradients[0] is that of all machines
};

class Layer {
 public:
  virtual ~Layer() = default;
  /// Lists the settings, each with the member that holds it. It is called to read them
  /// from JSON, and again to write tables and other formats.
  virtual void settings(Settings&) {}
  /// Throws ShapeError "expected ..., got ...".
  virtual LayerShape infer(std::span<const Shape> inputs) = 0;
  virtual Tensor forward(ForwardPass& pass) const = 0;
  virtual void backward(BackwardPass& pass) const = 0;
  /// Returns whether backward() computes gradients[i] = beta[i] * gradients[i] + gradient for every
  /// parameter. If beta[i] is 0, it does not read gradients[i]. For other layers the network
  /// multiplies by beta.
  virtual bool writes_gradients() const { return false; }

  /// Writes the layer's test phase as operators of ONNX. If a layer does not override it, the
  /// export throws Error.
  virtual void to_onnx(OnnxLayerWriter& onnx) const;

  virtual BackwardReads backward_reads() const { return {}; }
  /// Returns whether forward() saves a tensor of the output's size for backward(). The memory model
  /// counts it.
  virtual bool saves_like_output() const { return false; }
  /// Returns whether the gradient of each input is the gradient of the output, as one tensor.
  virtual bool passes_gradient_on() const { return false; }
  /// Returns whether the output of a sample depends on the other samples of the batch.
  virtual bool couples_samples(Phase) const { return false; }
  /// A loss reads `targets` and returns one element, the mean over the batch. The backward pass
  /// starts at it.
  virtual bool is_loss() const { return false; }
  virtual double loss_weight() const { return 1; }
  /// Returns whether forward() applies pass.activation in the same pass over memory.
  virtual bool fuses_activation() const { return false; }
  /// Returns whether forward() applies pass.pooling, then pass.activation. backward() then goes
  /// back through the pooling. The backward pass of such a layer must not read the output.
  virtual bool fuses_pooling() const { return false; }
  /// Returns whether recompute() computes the output again from the input, in little time. The
  /// output is then freed until the backward pass reads it. Such a layer has one input, and its
  /// backward pass reads it.
  virtual bool recomputes_output() const { return false; }
  virtual Tensor recompute(const RecomputePass&) const { return {}; }
  /// Returns the function if the layer is an elementwise function.
  virtual std::optional<FusedActivation> as_activation() const { return std::nullopt; }
  /// Returns whether the output is a view of the input, or the input itself.
  virtual bool is_view(Phase) const { return false; }
  /// Returns the pooling if the layer is max pooling.
  virtual FusedPooling as_pooling() const { return std::nullopt; }
  /// Returns whether the output is a maximum of inputs. An increasing function can be applied after
  /// it instead of before it.
  virtual bool takes_maximum() const { return false; }
  /// Returns whether the layer is softmax over the elements of a sample. Cross-entropy then reads
  /// the input of this layer.
  virtual bool is_softmax() const { return false; }
};

}  // namespace kaiseki::nn
