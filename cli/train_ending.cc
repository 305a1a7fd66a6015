// SPDX-License-Identifier: MIT
#include "cli/train_ending.h"

#include <cstdio>

#include "base/error.h"
#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/rescued_files.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/weights_file.h"
#include "dist/train/task_cancelled.h"
#include "matrix/memory/allocator.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

fs::path newest_checkpoint(const TrainRun& run) {
  return run.checkpointer ? run.checkpointer->last() : std::string();
}

/// Writes the weights to --save. Returns whether it did. Adds an error to `problems`.
bool save_weights(const TrainRun& run, std::vector<std::string>& problems) {
  const std::string& file = run.command.save;
  if (file.empty()) return false;
  try {
    save_weights_of(file, run.trainer.updater().network(), run.info);
    std::printf("weights     %s\n", printable(file).c_str());
    return true;
  } catch (const Error& error) {
    problems.push_back(error.what());
    return false;
  }
}

/// Adds an error to `problems`.
void write_trace(const TrainRun& run, std::vector<std::string>& problems) {
  try {
    run.trace.write();
  } catch (const Error& error) {
    problems.push_back(error.what());
  }
}

/// Prints the memory that the training used, and the prediction for one step.
void print_memory(const TrainRun& run) {
  nn::Updater& updater = run.trainer.updater();
  const Device device = updater.network().device();
  std::printf("memory      %s\n", describe_memory(device).c_str());
  const nn::PassPrediction pass = predict_pass(updater);
  std::printf("memory      predicted %s in use in a step of %s samples\n",
              format_bytes(device.memory().account().in_use + pass.on_device).c_str(),
              format_count(samples_of_pass(updater)).c_str());
  const double speed = run.progress ? run.progress->last_speed() : 0;
  if (!pass.is_out_of_core || speed <= 0) return;
  const auto predicted = updater.network().predict_seconds(samples_of_pass(updater));
  if (!predicted) return;
  std::printf("memory      %s leave the device in a pass, predicted %.3g s, measured %.3g s%s\n",
              format_bytes(pass.leaves).c_str(), *predicted,
              static_cast<double>(samples_of_pass(updater)) / speed,
              bound_text(pass.bound).c_str());
}

/// Writes the weights to the state folder.
void keep_last_weights(const TrainRun& run) {
  if (run.trainer.step() == 0) return;
  try {
    const fs::path file =
        rescue_weights(run.network_file, run.trainer.updater().network(), run.info);
    std::printf("weights     %s (use --save to choose the file)\n",
                printable(file.string()).c_str());
  } catch (const Error& error) {
    log_warning(std::string("the weights are not saved: ") + error.what());
  }
}

std::string hint_to_resume(const TrainRun& run) {
  if (newest_checkpoint(run).empty()) return "";
  return "; to continue from the last checkpoint, use --checkpoint " + run.command.checkpoint +
         " --resume";
}

void save_after_error(const TrainRun& run) {
  clear_live_line();
  if (run.follows || run.weights_are_old || run.trainer.step() == 0) return;
  std::printf("stopped after step %s: error\n", format_count(run.trainer.step()).c_str());
  std::vector<std::string> problems;
  const bool saved = save_weights(run, problems);
  for (const std::string& problem : problems) log_warning(problem);
  if (!saved && newest_checkpoint(run).empty()) keep_last_weights(run);
}

}  // namespace

void run(const TrainRun& run) {
  try {
    run.trainer.run();
  } catch (const nn::Diverged& error) {
    std::string hint = "; use a smaller --lr, --warmup or --clip-norm";
    if (const fs::path newest = newest_checkpoint(run); !newest.empty())
      hint += "; the last good checkpoint is " + newest.string();
    throw Error(error.as_message() + hint);
  } catch (const nn::RunNotRestored& error) {  // so its weights are not those of the last step
    clear_live_line();
    throw Error(error.as_message() + hint_to_resume(run));
  } catch (const dist::TaskCancelled& error) {
    save_after_error(run);
    throw Error(error.as_message() + hint_to_resume(run));
  } catch (const std::exception&) {
    save_after_error(run);
    throw;
  }
}

void finish(const TrainRun& run) {
  const TrainCommand& c = run.command;
  nn::Trainer& trainer = run.trainer;
  if (!trainer.stop_reason().empty())
    std::printf("stopped after step %s: %s\n", format_count(trainer.step()).c_str(),
                trainer.stop_reason().c_str());
  if (c.memory) print_memory(run);
  const bool unfinished = interrupted() && trainer.epoch() < trainer.options().epochs;
  const bool has_checkpoint = run.checkpointer && run.checkpointer->problem().empty();
  std::vector<std::string> problems;
  const bool saved = save_weights(run, problems);
  if (!saved && !unfinished && !has_checkpoint) keep_last_weights(run);
  fs::path last = newest_checkpoint(run);
  if (unfinished && !has_checkpoint) try {
      last = rescue_checkpoint(run.network_file, trainer, run.info);
    } catch (const Error& error) {
      problems.push_back(error.what());
    }
  write_trace(run, problems);
  if (!last.empty()) std::printf("checkpoint  %s\n", printable(last.string()).c_str());
  if (unfinished && !last.empty())
    std::printf("continue with the same command and --checkpoint %s --resume\n",
                printable(has_checkpoint ? c.checkpoint : last.parent_path().string()).c_str());
  if (run.checkpointer && !has_checkpoint) problems.push_back(run.checkpointer->problem());
  if (run.log && !run.log->problem().empty()) problems.push_back(run.log->problem());
  if (!problems.empty()) throw Error(join(problems, "; "));
}

}  // namespace kaiseki::cli
