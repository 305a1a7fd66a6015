// SPDX-License-Identifier: MIT
// The options of kaiseki train.
#include <string_view>

#include "base/text.h"
#include "cli/options/shared.h"
#include "nn/data/augmentation.h"

namespace kaiseki::cli {
namespace {

void add_optimizer(OptionSet& set, nn::Recipe& r) {
  OptionSet group = set.group("Optimizer");
  group.choice("--optimizer", r.optimizer, nn::optimizer_names(),
               "The update rule (default: the recipe's, else momentum)");
  group.real("--lr", r.learning_rate, kAboveZero,
             "Learning rate (default: the recipe's for its optimizer, else 0.001 for adam and "
             "adamw, else 0.01)");
  group.real("--momentum", r.momentum, {.most = 1, .below_most = true},
             "Momentum of the rules momentum and nesterov (default: the recipe's, else 0.9)");
  group.real("--weight-decay", r.weight_decay, {},
             "Weight decay (L2; adamw: decoupled). Biases do not decay (default: the recipe's, "
             "else 0.01 for adamw, else 0)");
  group.real("--clip-norm", r.clip_norm, {},
             "Scale all gradients together to at most this norm. 0: do not (default: the "
             "recipe's, else 0)");
  group.choice("--schedule", r.schedule, {"constant", "step", "cosine", "linear"},
               "How the learning rate changes (default: the recipe's, else constant)");
  group.real("--warmup", r.warmup, {},
             "Epochs in which the learning rate rises from 0. 0.5: half an epoch (default: the "
             "recipe's, else 0)");
  group.real("--step-size", r.step_size, kAboveZero,
             "Schedule step: epochs between two reductions (default: the recipe's)");
  group.real("--gamma", r.gamma, {.most = 1, .above_least = true},
             "Schedule step: factor of each reduction (default: the recipe's, else 0.1)");
  group.real("--min-lr", r.minimum_rate, {},
             "Schedules cosine and linear: last learning rate (default: the recipe's, else 0)");
}

void add_input(OptionSet& set, TrainCommand& c) {
  OptionSet group = set.group("Data");
  group.checked_text("--augment", "LIST", c.recipe.augment, nn::kAugmentations, nn::is_augmentation,
                     "none, or flip, crop or crop:PADDING, joined by commas (default: the "
                     "recipe's, else none; default PADDING: 4, or 0 with --resize)");
  group.whole("--workers", c.workers, {1, 1024},
              "Threads that prepare minibatches (default: half of the cores, at most 8)");
  group.whole("--test-limit", c.test_limit, {},
              "Evaluate on only N test samples, spread evenly (0: all)");
  group.whole("--eval-every", c.evaluate_every, {}, "Epochs between evaluations (0: none)");
  group.whole("--early-stop", c.early_stop, {},
              "Stop after N evaluations without improvement (0: do not)");
}

void add_files(OptionSet& set, TrainCommand& c) {
  OptionSet group = set.group("Files");
  group.text("--weights", "FILE", c.weights,
             "Start from these weights. Layers without fitting weights are initialized");
  group.text("--save", "FILE", c.save,
             "Write the weights to this file after training (.onnx: with the network)");
  const AddedOption checkpoint =
      group.text("--checkpoint", "DIR", c.checkpoint, "Write checkpoints to this folder");
  group.whole("--checkpoint-every", c.checkpoint_every, kPositive, "Epochs between checkpoints");
  group.whole("--keep", c.keep, kPositive,
              "Number of newest checkpoints to keep, besides the best");
  group.flag("--resume", c.resume, "Continue from the newest checkpoint in --checkpoint")
      .needs(checkpoint);
  group.text("--log", "FILE", c.log, "Write metrics to this file as JSON lines");
  group.text("--spill", "DIR", c.device.spill,
             "On the CPU, tensors that exceed KAISEKI_DEVICE_MEMORY wait in files of this folder "
             "(default: KAISEKI_SPILL_DIR, else they stay)");
  group.choice("--out-of-core", c.device.out_of_core, {"auto", "off", "always"},
               "What happens if a minibatch needs more memory than the device has. auto: tensors "
               "leave the device or are computed again. off: the training ends. always: as auto, "
               "but tensors leave the device even if there is room");
  group.text("--trace", "FILE", c.trace,
             "Write a timeline of the device's queues to this file, in Chrome's trace format");
  group.flag("--memory", c.memory, "Show how much of the device's memory was used");
  group.whole("--log-every", c.log_every, kPositive, "Steps between two lines of --log");
}

bool is_pool_rule(std::string_view text) {
  constexpr std::string_view kKey = "accuracy=";
  if (!text.starts_with(kKey)) return false;
  const auto value = parse_number<double>(text.substr(kKey.size()));
  return value && *value >= 0 && *value <= 1;
}

void add_train_pool(OptionSet& set, PoolTrainCommand& c) {
  OptionSet group =
      add_pool(set, c,
               "Distribute training over the nodes that join (kaiseki join). serve: this command "
               "coordinates them. URL: the coordinator at this address does (kaiseki serve). "
               "Without nodes this machine trains alone")
          .group;
  group.choice("--pool-mode", c.mode, {"auto", "data", "concurrent-head", "border"},
               "Work of the nodes. data: all gradients. concurrent-head: gradients of the layers "
               "before the border. border: those layers forward and backward. auto: the fastest "
               "of them",
               {"paper", "concurrent-head"});
  group.choice("--pool-wire", c.wire, {"f32", "f16", "i8"},
               "Format of numbers on the network. f32 is exact");
  group.text("--pool-border", "LAYER", c.border,
             "The last layer that nodes compute (default: the layer before the first fully "
             "connected one)");
  group.whole("--pool-ticket", c.ticket_samples, {1, 1 << 20},
              "Samples in a ticket (default: an eighth of a minibatch, at least 16)");
  group.checked_text(
      "--pool-after", "RULE", c.after, "accuracy=NUMBER with a number from 0 to 1", is_pool_rule,
      "accuracy=NUMBER: train alone until an epoch reaches this accuracy (0.5 is half)");
  group.flag("--pool-private", c.is_private,
             "Admit only nodes with the coordinator's token. Without this option the volunteers' "
             "page receives pictures, labels and weights");
}

bool is_cluster_mode(std::string_view text) {
  return text == "auto" || text == "data" || text == "hybrid" || text.ends_with(".json");
}

void add_cluster(OptionSet& set, TrainCommand& c) {
  OptionSet group = set.group("Cluster");
  const AddedOption cluster = group.checked_text(
      "--cluster", "auto|data|hybrid|FILE.json", c.cluster,
      "auto, data, hybrid or a file that ends with .json", is_cluster_mode,
      "Train on all ranks of mpirun. data: each computes a part of every minibatch. hybrid: "
      "sets of ranks divide the channels of layers too. auto: the faster one by prediction. "
      "FILE.json: the plan of this file");
  group
      .choice("--cluster-wire", c.cluster_wire, {"f32", "f16"},
              "Format of gradients on the network. f16: half of the bytes, rounded")
      .needs(cluster);
  group
      .flag("--sync-batch-norm", c.sync_batch_norm,
            "Batch normalization uses the statistics of the whole minibatch, not of a rank's part")
      .needs(cluster);
}

bool is_batch_size(std::string_view text) {
  for (std::string_view name : {"auto", "auto:time", "auto:usage", "auto:noise"})
    if (text == name) return true;
  const auto value = parse_number<int64_t>(text);
  return value && *value >= kBatchSize.least && *value <= kBatchSize.most;
}

}  // namespace

CommandText add_options(OptionSet& set, TrainCommand& c) {
  add_network(set, c.network);
  add_data(set, c.data);
  set.whole("--epochs", c.recipe.epochs, {},
            "Number of epochs, with those before --resume (default: the recipe's, else 10)");
  set.checked_text(
      "--batch-size", "N|auto", c.batch_size,
      "a whole number from 1 to " + std::to_string(kBatchSize.most) +
          ", or auto, auto:time, auto:usage or auto:noise",
      is_batch_size,
      "Samples in a minibatch. auto: a few iterations before training find a size with a short "
      "epoch. auto:time and auto:usage try more sizes. auto:noise: as auto. From the second epoch "
      "on, the size is at most the noise scale of the gradients (default: the recipe's, else 64)");
  set.choice("--scale-lr", c.scale_rate, {"off", "sqrt", "linear"},
             "With --batch-size auto: how the learning rate changes with the size. sqrt: with its "
             "square root. A higher rate is reached over the first epoch (default: off if --lr is "
             "given, else sqrt)");
  set.whole("--accumulate", c.accumulate, {1, 1 << 20},
            "Minibatches in a step. Their gradients are added, so a step needs only the memory of "
            "one");
  set.seed("--seed", c.seed, "Seed of the first weights, the order of samples and augmentation");
  add_device(set, c.device);
  add_convolutions(set, c.device);
  add_optimizer(set, c.recipe);
  add_input(set, c);
  add_files(set, c);
  add_train_pool(set, c.pool);
  add_cluster(set, c);
  return {
      "train", "Train a network on a data set",
      "A network may have a recipe: the defaults of epochs, batch size, optimizer and data. The\n"
      "first line of the output shows what applies. An option replaces one value of the recipe.\n\n"
      "Ctrl-C ends training, writes a checkpoint and gives status 0. The checkpoint goes to\n"
      "--checkpoint, else to NET.checkpoint in this folder, else to KAISEKI_STATE_DIR. A second\n"
      "Ctrl-C ends the process at once. To continue, add --resume to the same command.\n"
      "Without --save and --checkpoint the last weights are kept in KAISEKI_STATE_DIR.\n\n"
      "Examples:\n"
      "  kaiseki train lenet --data digits --epochs 3\n"
      "  kaiseki train lenet --data mnist --epochs 10 \\\n"
      "      --save lenet.safetensors --checkpoint runs/lenet --log runs/lenet.jsonl\n"
      "  kaiseki train lenet --data mnist --epochs 10 \\\n"
      "      --save lenet.safetensors --checkpoint runs/lenet --log runs/lenet.jsonl --resume\n"
      "  kaiseki train lenet --data mnist --pool serve\n"
      "  mpirun -n 4 --bind-to none kaiseki train lenet --data mnist --cluster data\n"
      "  kaiseki train cifar --data pictures.tar.gz --augment flip,crop:4 "
      "--device opencl\n"
      "  kaiseki train net.json --data pictures.tar --resize 256 --augment crop,flip \\\n"
      "      --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225"};
}

}  // namespace kaiseki::cli
