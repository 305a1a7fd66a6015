// SPDX-License-Identifier: MIT
// The subcommands of kaiseki. Each returns the exit status and throws Error.
#pragma once

#include "cli/options.h"

namespace kaiseki::cli {

int run_command(const DevicesCommand& command);
int run_command(const TrainCommand& command);
int run_command(const EvalCommand& command);
int run_command(const PredictCommand& command);
int run_command(const RunCommand& command);
int run_command(const SummaryCommand& command);
int run_command(const TuneCommand& command);
int run_command(const ExportCommand& command);
int run_command(const FitCommand& command);
int run_command(const ApplyCommand& command);
int run_command(const BenchCommand& command);
int run_command(const ServeCommand& command);
int run_command(const JoinCommand& command);
int run_command(const CompletionCommand& command);

}  // namespace kaiseki::cli
