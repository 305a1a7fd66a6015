// SPDX-License-Identifier: MIT
// The options of the commands that describe and measure: devices, summary, tune, bench and
// completion.
#include "cli/options/shared.h"

namespace kaiseki::cli {

CommandText add_options(OptionSet& set, DevicesCommand& c) {
  set.flag("--json", c.json, "Print one JSON line for each device");
  return {"devices", "List the devices of this machine",
          "Examples:\n  kaiseki devices\n  KAISEKI_DEVICE_MEMORY=512M kaiseki devices"};
}

CommandText add_options(OptionSet& set, SummaryCommand& c) {
  add_network(set, c.network);
  set.whole("--batch-size", c.batch_size, kBatchSize, "Samples in a batch");
  set.flag("--json", c.json, "Print one JSON line for each layer");
  set.checked_text("--memory", "BYTES", c.memory, "bytes such as 2G", is_bytes,
                   "Show how a training would run on a device with this memory");
  add_device(set, c.device);
  return {"summary", "Show the output shape, parameters, work and memory of each layer",
          "Examples:\n  kaiseki summary lenet\n  kaiseki summary resnet.onnx\n"
          "  kaiseki summary cifar --batch-size 64\n"
          "  kaiseki summary resnet50 --batch-size 128 --memory 2G"};
}

CommandText add_options(OptionSet& set, TuneCommand& c) {
  add_network(set, c.network);
  set.whole("--batch-size", c.batch_size, kBatchSize, "Samples in a minibatch, as in training");
  add_device(set, c.device);
  set.flag("--json", c.json, "Print one JSON line for each solver of each convolution");
  return {"tune", "Measure all solvers of a network's convolutions and store the results",
          "Examples:\n  kaiseki tune cifar\n"
          "  kaiseki tune lenet --batch-size 64 --threads 1"};
}

CommandText add_options(OptionSet& set, BenchCommand& c) {
  set.choice("kind", c.what, {"gemm", "conv", "train", "data"}, "What to measure").required();
  set.texts("cases", "CASE", c.cases,
            "gemm: MxNxK. conv: such as n16c64h56w56k128r3s3p1. train: networks. data: data sets "
            "(default: a choice of cases)");
  set.whole("--batch-size", c.batch_size, kBatchSize, "Samples in a minibatch (train, data)");
  set.whole("--repeat", c.repeat, {1, 10000}, "Number of runs of each case. The median is printed");
  set.real("--seconds", c.seconds, {.most = 3600, .above_least = true},
           "Duration of a run (not with --layers)");
  const AddedOption layers =
      set.flag("--layers", c.layers,
               "train: print the time of each layer, measured over --repeat training steps");
  set.text("--trace", "FILE", c.trace,
           "train: write the layers of the last step in Chrome's trace format")
      .needs(layers);
  add_device(set, c.device);
  add_convolutions(set, c.device);
  return {"bench", "Measure the speed of computations, as JSON lines",
          "Examples:\n"
          "  kaiseki bench gemm 1000x1000x1000 --threads 1\n"
          "  kaiseki bench conv n64c20h12w12k50r5s5 --device opencl\n"
          "  kaiseki bench train lenet cifar --batch-size 64\n"
          "  kaiseki bench train alexnet --layers --trace alexnet-trace.json\n"
          "  kaiseki bench data pictures.tar --threads 2"};
}

CommandText add_options(OptionSet& set, CompletionCommand& c) {
  set.choice("shell", c.shell, {"bash", "zsh", "fish", "man"},
             "A shell, or man for the manual page")
      .required();
  return {"completion", "Print a shell's completion script, or the manual page",
          "Examples:\n  kaiseki completion bash "
          ">~/.local/share/bash-completion/completions/kaiseki\n"
          "  kaiseki completion man | man -l -"};
}

}  // namespace kaiseki::cli
