// SPDX-License-Identifier: MIT
// The options of the commands that use a trained network: eval, predict, run and export.
#include "cli/options/shared.h"

namespace kaiseki::cli {

CommandText add_options(OptionSet& set, EvalCommand& c) {
  add_network(set, c.network);
  add_weights(set, c.weights);
  add_data(set, c.data);
  set.whole("--batch-size", c.batch_size, kBatchSize, "Samples in a batch");
  set.flag("--train-part", c.train_part, "Use the training part of the data, not the test part");
  set.text("--confusion", "FILE", c.confusion, "Write the confusion matrix to this CSV file");
  set.flag("--json", c.json, "Print one JSON line");
  add_device(set, c.device);
  add_convolutions(set, c.device);
  return {"eval", "Measure loss, accuracy and confusion matrix on a data set",
          "Examples:\n"
          "  kaiseki eval lenet --weights lenet.safetensors --data mnist\n"
          "  kaiseki eval lenet --weights runs/lenet --data digits --confusion "
          "matrix.csv"};
}

CommandText add_options(OptionSet& set, PredictCommand& c) {
  constexpr const char* kStored = "As in training (default: the value stored with the weights)";
  add_network(set, c.network);
  set.texts("pictures", "PICTURE", c.pictures, "PNG or JPEG files of any size").required();
  add_weights(set, c.weights);
  set.whole("--top", c.top, kPositive, "Number of classes to show");
  set.flag("--invert", c.invert, "Exchange dark and light, for dark digits on white paper");
  add_as_stored(set, c.as_stored);
  set.whole("--resize", c.resize, {1, 16384}, kStored);
  set.reals("--mean", c.mean, kAnyNumber, kStored);
  set.text("--mean-image", "FILE", c.mean_image, kStored);
  set.reals("--std", c.std, kAboveZero, kStored);
  set.flag("--json", c.json, "Print one JSON line for each picture");
  add_device(set, c.device);
  add_convolutions(set, c.device);
  return {"predict", "Show the most probable classes of pictures",
          "Examples:\n"
          "  kaiseki predict lenet --weights lenet.safetensors seven.png\n"
          "  kaiseki predict cifar --weights cifar.safetensors --top 5 *.jpg\n"
          "  kaiseki predict resnet.onnx --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 cat.jpg"};
}

CommandText add_options(OptionSet& set, RunCommand& c) {
  add_network(set, c.network);
  add_weights(set, c.weights);
  set.texts("--input", "FILE", c.inputs,
            "The input, a .npy file. With several inputs: NAME=x.npy for each")
      .required();
  set.texts("--output", "FILE", c.outputs,
            "The .npy file for the first output. With several outputs: NAME=y.npy for each")
      .required();
  AddedOption grad_output =
      set.text("--grad-output", "FILE", c.grad_output,
               "The gradient of the output, a .npy file. The backward pass runs from it");
  AddedOption grads = set.text("--grads", "DIR", c.grads,
                               "Folder for the gradients: input.npy, and a file for each parameter "
                               "(a / in its name becomes %2F)");
  grads.needs(grad_output);
  grad_output.needs(grads);
  set.choice("--phase", c.phase, {"test", "train"}, "Phase of layers such as dropout");
  set.seed("--seed", c.seed, "Seed of dropout, and of weights that are not given");
  add_device(set, c.device);
  add_convolutions(set, c.device);
  return {"run", "Run forward and backward on tensors in .npy files",
          "Examples:\n"
          "  kaiseki run net.json --weights w.safetensors --input x.npy --output y.npy\n"
          "  kaiseki run net.json --weights w.safetensors --input x.npy --output y.npy --phase "
          "train \\\n"
          "      --grad-output gy.npy --grads gradients"};
}

CommandText add_options(OptionSet& set, ExportCommand& c) {
  add_network(set, c.network);
  add_weights(set, c.weights);
  set.text("--output", "FILE", c.output,
           ".onnx: the network with its weights. .safetensors, .json, .tar: the weights")
      .required();
  return {"export", "Write a network with its weights as ONNX, or weights in another format",
          "Examples:\n"
          "  kaiseki export lenet --weights lenet.safetensors --output lenet.onnx\n"
          "  kaiseki export resnet.onnx --output resnet.safetensors\n"
          "  kaiseki export iris.safetensors --output iris.onnx   # a model of kaiseki fit"};
}

}  // namespace kaiseki::cli
