// SPDX-License-Identifier: MIT
// Network: a directed graph of named layers, built from JSON (docs/network-json.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/conv/solver.h"
#include "matrix/tensor.h"
#include "nn/io/named_tensor.h"
#include "nn/parameter.h"

namespace kaiseki::nn {

class Optimizer;

enum class Phase : uint8_t { train, test };

struct LayerSummary {
  std::string name, type;
  Shape output;                                 // without the batch dimension
  int64_t parameters = 0;                       // trained values
  int64_t multiply_adds = 0;                    // for one sample, forward
  uint64_t activation_bytes = 0;                // of the output, for one sample
  std::optional<ConvProblem> convolution = {};  // that it is, forward of one sample
};

struct NetworkSummary {
  std::string name;
  Shape input, output;  // of one sample, as Network's
  std::vector<LayerSummary> layers;
};
/// What a file describes, without memory for parameters and without a look at weights inside it.
/// Throws ParseError as Network::load().
NetworkSummary summarize(const std::filesystem::path& file);

class Network {
 public:
  /// Sukiyaki's list format, ours or ONNX, told apart by the content. Parameters are initialised
  /// from seed 0; weights inside the file are loaded. Throws ParseError naming file, JSON path (or
  /// ONNX node), layer, what was expected and what was found.
  static Network load(const std::filesystem::path& file, Device device = default_device());
  static Network parse(std::string_view json, std::string_view source,
                       Device device = default_device());
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  const std::string& name() const;
  Device device() const;
  /// Shape of one sample of the (first) input, [c, h, w], and the classes of the output.
  Shape input_shape() const;
  Shape output_shape() const;

  /// Whether forward() gives logits: the network has no softmax and no loss, and trains with
  /// softmax cross-entropy on its output.
  bool gives_logits() const;

  /// Whether the network's file held weights: they are then loaded already.
  bool has_weights() const;
  /// What came with these weights: the classes' names, mean and std (of ONNX; else empty).
  const Metadata& metadata() const;

  /// Draws all parameters anew and restarts the random streams (dropout).
  void initialize(uint64_t seed);

  /// Output for a batch: [n, ...]; for networks that end in a classification loss, probabilities. x
  /// is moved to the network's device if it is elsewhere.
  Tensor forward(const Tensor& x, Phase phase = Phase::test);
  /// The same for networks with several inputs and outputs, by name.
  std::map<std::string, Tensor> forward(const std::map<std::string, Tensor>& inputs, Phase phase);

  struct Loss {
    Tensor loss;    // one element, mean over the batch: reading it waits for the device
    Tensor output;  // as forward()
  };
  /// Loss of a batch. Targets: i32 labels [n], or f32 of the output's shape for mean squared error.
  /// A network without a loss layer gets softmax cross-entropy on its output (with its own final
  /// softmax, if any, folded in).
  /// With `input_gradient`, backward() gives d loss / d x too.
  Loss forward_loss(const Tensor& x, const Tensor& targets, Phase phase = Phase::train,
                    bool input_gradient = false);
  /// After forward_loss(): adds d loss / d parameter to every gradient. No tensor, unless the
  /// gradient of the input was asked for.
  Tensor backward();
  /// After forward(x, Phase::train or test): adds the gradients for a given gradient of the output,
  /// and returns that of the input.
  Tensor backward(const Tensor& grad_output);
  /// From here gradients count as zeros; in memory they are once parameters() or backward() is
  /// called.
  void zero_grad();
  /// The same for a pass that this optimizer's step follows, with no memory for gradients where its
  /// rule is plain momentum: backward() then adds them straight to the velocity, and
  /// Parameter::grad is momentum * velocity + gradient, from parameters() on. After a backward()
  /// that threw, the velocity is of no use any more.
  void zero_grad(Optimizer& optimizer);

  std::span<Parameter> parameters();
  std::span<State> states();
  /// That initialize() was given.
  uint64_t seed() const;
  /// The batches that follow begin at this sample of a larger one: dropout draws for each sample
  /// what it draws for it there.
  void set_first_sample(int64_t first);
  /// Steps of the dropout streams, for checkpoints.
  uint64_t random_position() const;
  void set_random_position(uint64_t position);

  std::vector<LayerSummary> summary() const;
  /// The network's own JSON, in our format.
  std::string json() const;

 private:
  struct Impl;
  explicit Network(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::nn
