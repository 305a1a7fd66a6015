// SPDX-License-Identifier: MIT
// The options that several commands share, and one function for each command.
#pragma once

#include "cli/options.h"
#include "cli/options/option_set.h"

namespace kaiseki::cli {

void add_network(OptionSet& set, std::string& network);
/// Weights that a command needs unless the network's file holds them.
void add_weights(OptionSet& set, std::string& weights);
/// Returns whether the text is a size of a device's memory, such as 8G.
bool is_bytes(std::string_view text);
void add_device(OptionSet& set, DeviceOptions& options);
/// For commands that compute convolutions.
void add_convolutions(OptionSet& set, DeviceOptions& options);
void add_as_stored(OptionSet& set, bool& as_stored);
void add_data(OptionSet& set, DataFlags& options);
/// The group "Pool" with --pool, which all options of the group need, and how to reach the nodes.
/// `help` is that of --pool.
struct PoolGroup {
  OptionSet group;
  AddedOption pool;
};
PoolGroup add_pool(OptionSet& set, PoolCommand& options, const char* help);

/// Each returns the command's description and its examples.
struct CommandText {
  const char *name, *description, *footer;
};
CommandText add_options(OptionSet& set, DevicesCommand& command);
CommandText add_options(OptionSet& set, TrainCommand& command);
CommandText add_options(OptionSet& set, EvalCommand& command);
CommandText add_options(OptionSet& set, PredictCommand& command);
CommandText add_options(OptionSet& set, RunCommand& command);
CommandText add_options(OptionSet& set, SummaryCommand& command);
CommandText add_options(OptionSet& set, TuneCommand& command);
CommandText add_options(OptionSet& set, ExportCommand& command);
CommandText add_options(OptionSet& set, FitCommand& command);
CommandText add_options(OptionSet& set, ApplyCommand& command);
CommandText add_options(OptionSet& set, BenchCommand& command);
CommandText add_options(OptionSet& set, ServeCommand& command);
CommandText add_options(OptionSet& set, JoinCommand& command);
CommandText add_options(OptionSet& set, CompletionCommand& command);

}  // namespace kaiseki::cli
