// SPDX-License-Identifier: MIT
// Joins its inputs along one dimension of a sample, by default the channels.
#include "matrix/ops/copy.h"
#include "nn/layers/layers.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class Concatenation : public Layer {
 public:
  void settings(Settings& settings) override {
    settings.integer("axis", axis_setting_,
                     {.low = 0, .high = Shape::kMaxRank - 2, .doc = "the channels"});
    axis_ = static_cast<int>(axis_setting_);
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    require(!inputs.empty(), "concatenation", "expected inputs, got none");
    Shape output = inputs[0];
    require(axis_ < output.rank(), "concatenation", "expected an axis below ", output.rank(),
            ", got ", axis_);
    for (const Shape& input : inputs.subspan(1)) {
      Shape same = input;
      if (input.rank() == output.rank()) same[axis_] = output[axis_];
      require(same == output, "concatenation", "expected ", output, " but for axis ", axis_,
              ", got ", input);
    }
    output[axis_] = 0;
    for (const Shape& input : inputs) output[axis_] += input[axis_];
    return {.output = output};
  }
  Tensor forward(ForwardPass& pass) const override { return concatenate(pass.inputs, axis_ + 1); }
  void backward(BackwardPass& pass) const override {
    int64_t start = 0;
    for (size_t i = 0; i < pass.shapes.size(); ++i) {
      const int64_t length = pass.shapes[i][axis_ + 1];
      if (pass.needs_gradient[i])
        pass.grad_inputs[i] = pass.grad_output.slice(axis_ + 1, start, length).clone();
      start += length;
    }
  }
  void to_onnx(OnnxLayerWriter& onnx) const override {
    onnx.add(onnx.node("Concat").integer("axis", axis_ + 1));
  }

 private:
  int64_t axis_setting_ = 0;
  int axis_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_concatenation() { return std::make_unique<Concatenation>(); }

}  // namespace kaiseki::nn
