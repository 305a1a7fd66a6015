// SPDX-License-Identifier: MIT
// Checkpoints: a safetensors file with the whole state of a training run, to continue it bit for
// bit. It has the weights, the optimizer's tensors with the prefix "optimizer/", and metadata.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "nn/train/extension.h"

namespace kaiseki::nn {

class Network;

/// Writes parameters, states and `metadata` in one step (write_file_atomic). Throws Error if a
/// weight is NaN or infinite, or the file cannot be written.
void write_weights(const std::string& file, Network& network, const Metadata& metadata);

/// Writes the weights, the optimizer's tensors and the trainer's state.
void write_checkpoint(const std::string& file, Trainer& trainer, const Metadata& metadata = {});
/// Throws ParseError for a damaged file, and Error with the file's name for a file of another run.
void read_checkpoint(const std::string& file, Trainer& trainer);

/// Returns FOLDER/checkpoint-00000469.safetensors for step 469.
std::string checkpoint_file(const std::string& folder, int64_t step);
/// All checkpoints in a folder, the newest first. Empty if there is no such folder.
std::vector<std::string> list_checkpoints(const std::string& folder);

/// The error of a new run if the folder has the checkpoints of another run.
class CheckpointsExist : public Error {
 public:
  using Error::Error;
};

/// Throws CheckpointsExist with the newest checkpoint if there are any.
void expect_no_checkpoints(const std::string& folder);

/// Continues from the newest checkpoint of the folder that can be read. Damaged checkpoints are
/// skipped with a warning. Returns the file, or nothing if there is none. Throws Error if all are
/// damaged, or if the newest is from another run.
std::optional<std::string> resume(const std::string& folder, Trainer& trainer);

struct CheckpointerOptions {
  std::string folder;
  int64_t every = 1;    // epochs
  int64_t keep = 3;     // checkpoints to keep, besides "best.safetensors"
  Metadata metadata{};  // written into every file
};

/// Saves after every `every`-th epoch and at the end. If a file cannot be written, it logs a
/// warning and training continues. Earlier checkpoints are not changed. Training throws
/// CheckpointsExist at its start if the folder has checkpoints and the run does not continue from
/// one.
class Checkpointer : public Extension {
 public:
  explicit Checkpointer(const CheckpointerOptions& options);
  void on_start(Trainer& trainer) override;
  void on_epoch(Trainer& trainer) override;
  void on_finish(Trainer& trainer) override;
  void save(Metadata& state) const override;
  void restore(const Metadata& state) override;

  /// The newest file written or resumed from. Empty if there is none.
  const std::string& last() const { return last_; }
  /// The error of writing the newest checkpoint or the best weights. Empty if both were written.
  const std::string& problem() const { return problem_.empty() ? best_problem_ : problem_; }

 private:
  void write_best(Trainer& trainer);
  void write(Trainer& trainer);
  void prune() const;

  CheckpointerOptions options_;
  std::string last_;
  std::optional<int64_t> last_step_;
  std::optional<double> best_;
  std::string problem_, best_problem_;
};

}  // namespace kaiseki::nn
