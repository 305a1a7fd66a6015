// SPDX-License-Identifier: MIT
// The values of the command line as plain structs. The folder options/ parses them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nn/recipe.h"

namespace kaiseki::cli {

struct DeviceOptions {
  std::string device;              // as for Device::parse()
  int threads = 0;                 // 0: KAISEKI_THREADS, else one for each core
  std::string workspace = "auto";  // of convolutions: auto, none, or bytes
  std::string tune = "hybrid";     // a name of TuneMode
  bool deterministic = false;
  std::string spill;                 // folder; empty: KAISEKI_SPILL_DIR
  std::string out_of_core = "auto";  // a name of OutOfCore
};

struct DataFlags {
  std::string data;
  int64_t limit = 0;  // samples used; 0: all
  std::vector<float> mean, std;
  std::string mean_image;  // an .npy file, in place of `mean`
  int resize = 0;  // the shorter side before the crop; 0: the smallest that covers the sample
  bool as_stored = false;  // ignores the orientation in the pictures
};

struct DevicesCommand {
  bool json = false;
};

struct PoolCommand {
  std::string where;  // "serve", or a coordinator's URL; empty: no pool
  std::string token_file, certificates, log;
  std::optional<int> port;  // of serve
};

struct PoolTrainCommand : PoolCommand {
  std::string mode = "auto", wire = "f16", border, after;
  std::optional<int64_t> ticket_samples = {};  // without a value: PoolTrainingOptions
  bool is_private = false;                     // only for nodes with the token
};

struct TrainCommand {
  std::string network;
  DeviceOptions device;
  DataFlags data;
  nn::Recipe recipe;  // the members that were given; `data` has resize, mean and std
  uint64_t seed = 0;
  std::string batch_size;           // a number, auto or auto:KIND; empty: the recipe's
  std::string scale_rate;           // off, sqrt or linear; empty: sqrt without a learning rate
  int64_t accumulate = 1;           // minibatches in a step
  std::optional<int> workers = {};  // threads that prepare batches
  std::string weights, save, checkpoint, log, trace;
  int64_t checkpoint_every = 1, keep = 3;
  bool resume = false, memory = false;
  int64_t log_every = 50, evaluate_every = 1, early_stop = 0, test_limit = 0;
  PoolTrainCommand pool;
  std::string cluster, cluster_wire = "f32";  // empty: no cluster
  bool sync_batch_norm = false;
};

struct EvalCommand {
  std::string network, weights;
  DeviceOptions device;
  DataFlags data;
  int64_t batch_size = 256;
  bool train_part = false, json = false;
  std::string confusion;  // CSV file
};

struct PredictCommand {
  std::string network, weights;
  DeviceOptions device;
  std::vector<std::string> pictures;
  int64_t top = 3;
  bool invert = false, as_stored = false, json = false;
  std::vector<float> mean, std;
  std::string mean_image;
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
  DeviceOptions device;
  std::string network;
  int64_t batch_size = 1;
  std::string memory;  // of the device, to predict a training
  bool json = false;
};

struct ExportCommand {
  std::string network, weights, output;
};

struct FitCommand {
  std::string model, data, target, save, missing = "refuse", header = "auto";
  std::vector<std::string> settings;  // NAME=VALUE
  std::vector<std::string> texts;     // columns
  std::vector<std::string> grid;      // NAME=VALUE,VALUE,...
  int64_t folds = 5;
  PoolCommand pool;
  DeviceOptions device;
  double test_size = 0;
  uint64_t seed = 0;
  bool scale = false, json = false;
};

struct ApplyCommand {
  std::string model, data, target, use, output;
  DeviceOptions device;
  bool json = false;
};

struct TuneCommand {
  std::string network;
  DeviceOptions device;
  int64_t batch_size = 64;
  bool json = false;
};

struct BenchCommand {
  std::string what;  // gemm, conv, train or data
  DeviceOptions device;
  std::vector<std::string> cases;
  int64_t batch_size = 64, repeat = 5;
  double seconds = 1;
  bool layers = false;
  std::string trace;  // a file; empty: none
};

struct ServeCommand {
  std::string host = "127.0.0.1", certificate, key, state, log;
  std::string web;  // a folder; "": the page in the command; "none"
  int port = 8080;
  bool trust_proxy = false, short_addresses = false;
  std::vector<std::string> names, origins, limits;
};

struct JoinCommand {
  std::string url, token_file, certificates, name;
  std::string memory;  // bytes; empty: all of the device's
  DeviceOptions device;
  std::optional<int> jobs = {};       // tickets at once; without a value: one for each thread
  std::optional<double> gflops = {};  // without a value it is measured
  double seconds = 300;               // of a ticket at most
};

struct CompletionCommand {
  std::string shell;  // bash, zsh, fish; man: the manual page
};

using Command = std::variant<DevicesCommand, TrainCommand, EvalCommand, PredictCommand, RunCommand,
                             SummaryCommand, TuneCommand, ExportCommand, FitCommand, ApplyCommand,
                             BenchCommand, ServeCommand, JoinCommand, CompletionCommand>;

struct OptionHelp {
  std::string names;  // "--json", "-h,--help", or a positional argument's name
  std::string description;
  std::vector<std::string> choices = {};  // empty: any value
  bool positional = false, takes_value = false;
  std::string standard = {};  // the default, as text
};
struct CommandHelp {
  std::string name, description, footer;
  std::vector<OptionHelp> options;
};
/// The command itself, then its subcommands.
std::vector<CommandHelp> describe_commands();

/// Returns the command, or nothing if --help or --version was printed. Throws Error with one line
/// for an invalid command line.
std::optional<Command> parse_command_line(int argc, char** argv);

}  // namespace kaiseki::cli
