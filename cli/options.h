// SPDX-License-Identifier: MIT
// What the command line says, as plain structs; parsed in options.cc, the only file with CLI11.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nn/optimizer.h"

namespace kaiseki::cli {

struct DeviceOptions {
  std::string device;              // as Device::parse()
  int threads = 0;                 // 0: KAISEKI_THREADS, else one for each core
  std::string workspace = "auto";  // of convolutions: auto, none, or bytes
  std::string tune = "hybrid";     // as TuneMode's names
  bool deterministic = false;
};

struct DataOptions {
  std::string data;
  int64_t limit = 0;  // samples used; 0: all
  std::vector<float> mean, std;
  int resize = 0;  // the shorter side, before the crop; 0: just covers the sample
};

struct DevicesCommand {
  bool json = false;
};

struct PoolTrainCommand {
  std::string where;  // "serve", or a coordinator's URL; empty: no pool
  std::string token_file, certificates;
  std::string mode = "auto", wire = "f16", border, after, log;
  std::optional<int> port;     // of serve
  int64_t ticket_samples = 0;  // 0: an eighth of a minibatch, but 16 or more
  bool is_private = false;     // only for nodes with the token
};

struct TrainCommand {
  std::string network;
  DeviceOptions device;
  DataOptions data;
  int64_t epochs = 10, batch_size = 64;
  uint64_t seed = 0;
  nn::OptimizerOptions optimizer;
  std::optional<double> learning_rate;
  std::string schedule = "constant";
  double warmup = 0;     // epochs
  double step_size = 0;  // epochs
  double gamma = 0.1, minimum_rate = 0;
  std::string augment;
  int workers = 0;  // threads that make batches ready; 0: a number that suits the machine
  std::string weights, save, checkpoint, log;
  int64_t checkpoint_every = 1, keep = 3;
  bool resume = false, memory = false;
  int64_t log_every = 50, evaluate_every = 1, early_stop = 0, test_limit = 0;
  PoolTrainCommand pool;
};

struct EvalCommand {
  std::string network, weights;
  DeviceOptions device;
  DataOptions data;
  int64_t batch_size = 256;
  bool train_part = false, json = false;
  std::string confusion;  // CSV file
};

struct PredictCommand {
  std::string network, weights;
  DeviceOptions device;
  std::vector<std::string> pictures;
  int64_t top = 3;
  bool invert = false, json = false;
  std::vector<float> mean, std;
  int resize = 0;
};

struct RunCommand {
  std::string network, weights;
  DeviceOptions device;
  std::vector<std::string> inputs, outputs;  // FILE or NAME=FILE
  std::string grad_output, grads, phase = "test";
  uint64_t seed = 0;
};

struct SummaryCommand {
  std::string network;
  int64_t batch_size = 1;
  bool json = false;
};

struct ExportCommand {
  std::string network, weights, output;
};

struct TuneCommand {
  std::string network;
  DeviceOptions device;
  int64_t batch_size = 64;
  bool json = false;
};

struct BenchCommand {
  std::string what;  // gemm, conv, train, data
  DeviceOptions device;
  std::vector<std::string> cases;
  int64_t batch_size = 64, repeat = 5;
  double seconds = 1;
};

struct ServeCommand {
  std::string host = "127.0.0.1", certificate, key, state, log;
  std::string web;  // a folder; "": the page in the command; "none"
  int port = 8080;
  bool trust_proxy = false;
  std::vector<std::string> names, origins, limits;
};

struct JoinCommand {
  std::string url, token_file, certificates, name;
  DeviceOptions device;
  int jobs = 0;       // tickets at once; 0: one for each thread
  double gflops = 0;  // 0: measured
};

using Command = std::variant<DevicesCommand, TrainCommand, EvalCommand, PredictCommand, RunCommand,
                             SummaryCommand, TuneCommand, ExportCommand, BenchCommand, ServeCommand,
                             JoinCommand>;

/// The command, or nothing when --help or --version was printed. Throws Error, one line, for a
/// command line that is not understood.
std::optional<Command> parse_command_line(int argc, char** argv);

}  // namespace kaiseki::cli
