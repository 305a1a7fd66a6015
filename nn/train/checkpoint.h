// SPDX-License-Identifier: MIT
// Checkpoints: everything that a run of training needs to continue bit for bit, in one safetensors
// file: weights by their names, the optimizer's tensors after "optimizer/", the rest as metadata.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "nn/train/extension.h"

namespace kaiseki::nn {

class Network;

/// Parameters and states of the network with metadata of the user's own, by temp + fsync + rename.
/// Throws Error when a weight is NaN or infinite, or the file cannot be written.
void write_weights(const std::filesystem::path& file, Network& network, const Metadata& metadata);

/// The same with the optimizer and the trainer's state.
void write_checkpoint(const std::filesystem::path& file, Trainer& trainer,
                      const Metadata& metadata = {});
/// Throws ParseError for a damaged file and Error for one of another run, both naming the file.
void read_checkpoint(const std::filesystem::path& file, Trainer& trainer);

/// FOLDER/checkpoint-00000469.safetensors
std::filesystem::path checkpoint_file(const std::filesystem::path& folder, int64_t step);
/// All such files of a folder, the newest first. Empty for a missing folder.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

/// Throws Error naming the newest when there are any: a run that does not continue them must not
/// mix its own with them.
void expect_no_checkpoints(const std::filesystem::path& folder);

/// Continues from the newest checkpoint of the folder that can be read; one that cannot is passed
/// over with a warning. Gives the file, or nothing when there is none. Throws Error when all are
/// damaged, or when the newest is of another run.
std::optional<std::filesystem::path> resume(const std::filesystem::path& folder, Trainer& trainer);

struct CheckpointerOptions {
  std::filesystem::path folder;
  int64_t every = 1;    // epochs
  int64_t keep = 3;     // newest checkpoints that stay; "best.safetensors" stays besides
  Metadata metadata{};  // goes into every file
};

/// Saves after every `every`-th epoch and at the end. A file that cannot be written is reported as
/// a warning, and training goes on: the earlier checkpoints stay as they are. Training throws Error
/// at its start when the folder holds checkpoints and the run continues from none of them.
class Checkpointer : public Extension {
 public:
  explicit Checkpointer(const CheckpointerOptions& options);
  void on_start(Trainer& trainer) override;
  void on_epoch(Trainer& trainer) override;
  void on_finish(Trainer& trainer) override;
  void save(Metadata& state) const override;
  void restore(const Metadata& state) override;

  /// The newest file written or resumed from; empty when there is none.
  const std::filesystem::path& last() const { return last_; }
  /// Why the newest checkpoint, or else the best weights, could not be written; empty when all is
  /// well.
  const std::string& problem() const { return problem_.empty() ? best_problem_ : problem_; }

 private:
  void write_best(Trainer& trainer);
  void write(Trainer& trainer);
  void prune() const;

  CheckpointerOptions options_;
  std::filesystem::path last_;
  int64_t last_step_ = -1;
  double best_ = -std::numeric_limits<double>::infinity();
  std::string problem_, best_problem_;
};

}  // namespace kaiseki::nn
