// SPDX-License-Identifier: MIT
// The folder of checkpoints: selects the file to continue from and the files to keep.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "nn/train/checkpoint.h"
#include "nn/train/state_text.h"
#include "nn/train/trainer.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-", kSuffix = ".safetensors";
constexpr std::string_view kBest = "best.safetensors";

bool is_checkpoint(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  std::string_view digits(name);
  digits.remove_prefix(kPrefix.size());
  digits.remove_suffix(kSuffix.size());
  return digits.size() >= 8 &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Deletes temporary files that write_file_atomic() leaves if the process is killed.
void clear_half_written(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.starts_with(kPrefix) || name.starts_with(kBest);
    if (ours && name.find(".safetensors.tmp-") != std::string::npos) files.push_back(entry.path());
  }
  for (const fs::path& file : files) fs::remove(file, ignored);
}

/// Renames the best weights of an earlier run to a free name, and logs it.
void set_best_aside(const fs::path& folder) {
  if (!fs::is_regular_file(folder / kBest)) return;
  fs::path aside = folder / "before.safetensors";
  for (int i = 2; fs::exists(aside); ++i)
    aside = folder / ("before-" + std::to_string(i) + ".safetensors");
  std::error_code error;
  fs::rename(folder / kBest, aside, error);
  if (!error) log_warning("the best weights of an earlier run are now " + aside.string());
}

/// Logs an error as a warning and stores it in `problem`. A success clears `problem`.
template <typename Write>
void attempt(std::string& problem, const Write& write) {
  try {
    write();
    problem.clear();
  } catch (const Error& error) {
    problem = error.what();
    log_warning(problem);
  }
}

}  // namespace

std::string checkpoint_file(const std::string& folder, int64_t step) {
  char name[64];
  std::snprintf(name, sizeof name, "checkpoint-%08lld.safetensors", static_cast<long long>(step));
  return fs::path(folder) / name;
}

std::vector<std::string> list_checkpoints(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_checkpoint(entry.path().filename().string())) files.push_back(entry.path());
  // All files are in one folder, so a longer path has a higher step.
  std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
  });
  return files;
}

void expect_no_checkpoints(const std::string& folder) {
  std::vector<std::string> files = list_checkpoints(folder);
  const fs::path best = fs::path(folder) / kBest;
  if (fs::is_regular_file(best)) files.push_back(best);
  if (files.empty()) return;
  throw CheckpointsExist(files[0] +
                         ": expected a folder without checkpoints of another run, got this one; "
                         "resume that run, use another folder, or delete its checkpoints");
}

std::optional<std::string> resume(const std::string& folder, Trainer& trainer) {
  std::string damage;
  for (const std::string& file : list_checkpoints(folder)) try {
      read_checkpoint(file, trainer);
      return file;
    } catch (const ParseError& error) {
      damage = error.what();
      log_warning("skipping a damaged checkpoint: " + damage);
    }
  if (!damage.empty()) throw Error("no checkpoint can be read: " + damage);
  // A run that was killed before its first checkpoint can have left its best weights.
  set_best_aside(folder);
  return std::nullopt;
}

Checkpointer::Checkpointer(const CheckpointerOptions& options) : options_(options) {
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (!fs::is_directory(options_.folder))
    throw Error(message("checkpoint", "cannot make the folder ", options_.folder, ": ",
                        error ? error.message() : "it is a file"));
}

void Checkpointer::on_start(Trainer& trainer) {
  if (!last_.empty()) return;
  const std::string present = checkpoint_file(options_.folder, trainer.step());
  if (!fs::exists(present)) expect_no_checkpoints(options_.folder);
  clear_half_written(options_.folder);
  if (!fs::exists(present)) return;
  last_ = present;
  last_step_ = trainer.step();
}

void Checkpointer::on_epoch(Trainer& trainer) {
  const auto& evaluation = trainer.evaluation();
  // No score is greater than NaN, so a first NaN would always remain the best score.
  const bool scored = evaluation && !std::isnan(evaluation->score());
  if (scored && (!best_ || evaluation->score() > *best_)) write_best(trainer);
  if (trainer.epoch() % std::max<int64_t>(1, options_.every) == 0) write(trainer);
}

void Checkpointer::on_finish(Trainer& trainer) {
  if (trainer.step() == last_step_ || trainer.step() == 0) return;
  trainer.running_totals();  // throws Diverged, so a diverged run is not saved
  write(trainer);
}

/// Runs before the checkpoint with the new best score is written. If the process is killed in
/// between, the next run writes the best weights again.
void Checkpointer::write_best(Trainer& trainer) {
  const Evaluation& evaluation = *trainer.evaluation();
  attempt(best_problem_, [&] {
    Metadata metadata = options_.metadata;
    put(metadata, "step", trainer.step());
    put(metadata, "top1", evaluation.top1);
    write_weights(fs::path(options_.folder) / kBest, trainer.updater().network(), metadata);
    best_ = evaluation.score();
  });
}

void Checkpointer::write(Trainer& trainer) {
  attempt(problem_, [&] {
    const std::string file = checkpoint_file(options_.folder, trainer.step());
    write_checkpoint(file, trainer, options_.metadata);
    last_ = file;
    last_step_ = trainer.step();
    prune();
  });
}

/// Also deletes checkpoints of later steps. They exist if resume() could not read them or continued
/// from an earlier one.
void Checkpointer::prune() const {
  const auto files = list_checkpoints(options_.folder);
  const auto last = std::find(files.begin(), files.end(), last_) - files.begin();
  const auto keep = std::max<int64_t>(1, options_.keep);
  if (last == std::ssize(files)) return;
  std::error_code ignored;
  for (int64_t i = 0; i < std::ssize(files); ++i)
    if (i < last || i >= last + keep) fs::remove(files[static_cast<size_t>(i)], ignored);
}

void Checkpointer::save(Metadata& state) const {
  if (best_) put(state, "checkpointer.best", *best_);
}

void Checkpointer::restore(const Metadata& state) {
  if (state.contains("checkpointer.best")) best_ = get<double>(state, "checkpointer.best");
}

}  // namespace kaiseki::nn
