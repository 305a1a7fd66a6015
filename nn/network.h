// SPDX-License-Identifier: MIT
// Network: a directed graph of named layers, built from JSON (docs/network-json.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/conv/problem.h"
#include "matrix/tensor.h"
#include "nn/gather_over_machines.h"
#include "nn/gradient_hook.h"
#include "nn/io/named_tensor.h"
#include "nn/layer_timer.h"
#include "nn/parameter.h"
#include "nn/pass_prediction.h"
#include "nn/phase.h"
#include "nn/recipe.h"
#include "nn/sum_over_machines.h"

namespace kaiseki {
class IdleTensors;
}

namespace kaiseki::nn {

struct NetworkImpl;
struct NetworkSpec;

struct LayerSummary {
  std::string name, type;
  Shape output;                   // without the batch dimension
  int64_t parameters = 0;         // trained values
  int64_t multiply_adds = 0;      // for one sample, forward
  double operations = 0;          // multiply-adds, inputs, 20 for each read of a window
  uint64_t activation_bytes = 0;  // of the output, for one sample
  std::optional<ConvProblem> convolution = {};  // of a convolution: forward of one sample
};

struct NetworkSummary {
  std::string name;
  Shape input, output;  // of one sample, as Network's
  std::vector<LayerSummary> layers;
};
/// Describes the network in a file. Allocates no parameters and does not read weights in the file.
/// Throws ParseError as Network::load().
NetworkSummary summarize(const std::string& file);
NetworkSummary summarize(NetworkSpec spec);

class Network {
 public:
  /// Reads our format, Sukiyaki's list format or ONNX. The content selects the format. Parameters
  /// are initialized from seed 0. Weights in the file are loaded. Throws ParseError with the file,
  /// the JSON path (or ONNX node), the layer, the expected value and the actual value.
  static Network load(const std::string& file, Device device = default_device());
  static Network parse(std::string_view json, std::string_view source,
                       Device device = default_device());
  /// Builds the network of a spec and loads the weights in it. Throws ParseError.
  static Network build(NetworkSpec spec, Device device = default_device());
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  const std::string& name() const;
  Device device() const;
  /// Shape of one sample of the (first) input, [c, h, w], and the classes of the output.
  Shape input_shape() const;
  Shape output_shape() const;

  /// The names of forward() for several inputs and outputs. The first output is the network's.
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;

  /// Whether forward() gives logits: softmax cross-entropy reads the network's output.
  bool outputs_logits() const;

  /// Whether the network's file had weights. They are loaded.
  bool has_weights() const;
  /// The metadata of these weights: names of classes, mean and std. Only ONNX files have it.
  const Metadata& metadata() const;

  /// The recipe in the network's file. If the file has none, no member has a value.
  const Recipe& recipe() const;

  /// Draws all parameters again and restarts the random streams (dropout).
  void initialize(uint64_t seed);

  /// The output for a batch, [n, ...]. If the network ends in a classification loss and names no
  /// outputs, the output is probabilities. x is copied to the network's device if it is on another
  /// one.
  Tensor forward(const Tensor& x, Phase phase = Phase::test);
  /// The same for networks with several inputs and outputs, by name.
  std::map<std::string, Tensor> forward(const std::map<std::string, Tensor>& inputs, Phase phase);

  struct Loss {
    Tensor loss;    // one element, the mean over the batch; reading it waits for the device
    Tensor output;  // the output, as forward() returns it
  };
  /// Returns the loss of a batch. Targets are i32 labels [n], or f32 of the output's shape for mean
  /// squared error. A network without a loss layer gets softmax cross-entropy on its output. If the
  /// network ends in a softmax, the cross-entropy includes it. With `input_gradient`, backward()
  /// returns d loss / d x.
  Loss forward_loss(const Tensor& x, const Tensor& targets, Phase phase = Phase::train,
                    bool input_gradient = false);
  /// Call it after forward_loss(). Adds scale * d loss / d parameter to every gradient. If
  /// forward_loss() had `input_gradient`, returns scale * d loss / d x, else an undefined tensor.
  Tensor backward(double scale = 1);
  /// Call it after forward(x). Adds to the gradients of the parameters, for a given gradient of the
  /// output. Returns the gradient of the input.
  Tensor backward(const Tensor& grad_output);
  /// Sets all gradients to zero. The memory is written by the next backward() or gradients().
  void zero_grad();
  /// The same, for a pass that ends with a step of this optimizer. If its rule is plain momentum,
  /// backward() adds the gradients to its velocity. The gradients then need no memory. If
  /// backward() throws, the velocity is lost.
  void zero_grad(Optimizer& optimizer);

  std::span<Parameter> parameters();
  /// The sum of the gradients of all backward() calls since zero_grad(). Zeros if there was no
  /// call.
  Gradients& gradients();
  std::span<State> states();
  /// Adds the weights and their gradients. Passes may run while `idle` exists.
  void add_weights(IdleTensors& idle) const;
  /// Adds the tensors of the optimizer that are not gradients of this network.
  void add_slots(const Optimizer& optimizer, IdleTensors& idle) const;
  /// The seed of the last initialize().
  uint64_t seed() const;
  /// The position of the next batches in a larger batch. Dropout then draws the same numbers for a
  /// sample as in the larger batch.
  void set_first_sample(int64_t first);
  /// The number of steps of the dropout streams, for checkpoints.
  uint64_t random_position() const;
  void set_random_position(uint64_t position);

  /// The number of parts, of about the same size, into which `batch` samples must be divided. A
  /// pass over a part then runs in the device's memory. 1 if the device has no limit, or if samples
  /// depend on each other (batch normalization in training).
  int64_t parts_of_batch(int64_t batch, Phase phase);
  /// Predicts a training pass of `batch` samples, with the memory that is free now.
  PassPrediction predict_pass(int64_t batch);
  /// Predicts the seconds of this pass with the tuner's present times. Nothing if it fits the
  /// device.
  std::optional<double> predict_seconds(int64_t batch);

  /// Each backward() calls `ready` with the gradients of a layer, after their last change. The last
  /// layer comes first. Gradients that the pass does not reach come at the end.
  /// Empty: no calls.
  void set_gradient_hook(GradientHook ready);
  /// Batch normalization in training uses the statistics of all machines. Empty: its own.
  void set_statistics_sum(SumOverMachines sum);
  /// Fully connected layers compute their weight's gradient from the samples of all machines. The
  /// gradient hook does not get it. Empty: from its own samples.
  void set_factor_gathering(GatherOverMachines gather);

  /// Calls `timer` after each layer of each pass. Waits for the device before and after each layer,
  /// so passes take longer. Empty: no times.
  void set_layer_timer(LayerTimer timer);

  std::vector<LayerSummary> summary() const;
  /// The spec that the network was built from, without weights.
  const NetworkSpec& spec() const;
  /// The spec as JSON, in our format.
  std::string json() const;

 private:
  explicit Network(std::unique_ptr<NetworkImpl> impl);
  std::unique_ptr<NetworkImpl> impl_;
};

}  // namespace kaiseki::nn
