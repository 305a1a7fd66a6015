// SPDX-License-Identifier: MIT
#include "nn/train/checkpoint.h"

#include <map>
#include <optional>

#include "base/error.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/idle_tensors.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "nn/io/safetensors.h"
#include "nn/train/state_text.h"
#include "nn/train/trainer.h"
#include "nn/weights.h"

namespace kaiseki::nn {
namespace {

constexpr std::string_view kOptimizerPrefix = "optimizer/";

/// All tensors of a run, with their names in a checkpoint.
std::vector<NamedTensor> run_tensors(Trainer& trainer) {
  Updater& updater = trainer.updater();
  std::vector<NamedTensor> tensors = weights_to_save(updater.network());
  for (State& state : updater.optimizer().states(updater.network().parameters()))
    tensors.push_back({std::string(kOptimizerPrefix) + state.name, state.value});
  return tensors;
}

void check_tensors(const std::vector<NamedTensor>& wanted,
                   const std::map<std::string, Tensor>& found) {
  for (const NamedTensor& tensor : wanted) {
    auto at = found.find(tensor.name);
    if (at == found.end())
      throw Error(message("checkpoint", "expected the tensor ", tensor.name, ", got none"));
    if (at->second.shape() != tensor.value.shape() || at->second.dtype() != tensor.value.dtype())
      throw Error(message("checkpoint", "expected ", tensor.name, " of shape ",
                          tensor.value.shape(), ", got ", at->second.shape()));
  }
  if (found.size() != wanted.size())
    throw Error(message("checkpoint", "expected ", wanted.size(), " tensors as in this run, got ",
                        found.size()));
}

}  // namespace

void write_weights(const std::string& file, Network& network, const Metadata& metadata) {
  IdleTensors idle(network.device());
  network.add_weights(idle);
  write_safetensors(file, weights_to_save(network), metadata);
}

void write_checkpoint(const std::string& file, Trainer& trainer, const Metadata& metadata) {
  Metadata state = trainer.state();
  state.insert(metadata.begin(), metadata.end());
  put(state, "checkpoint", "1");
  Workspace& workspace = trainer.updater().network().device().workspace();
  IdleTensors idle(trainer.updater().network().device());
  trainer.updater().add_idle(idle);
  workspace.grow();  // as before the next iteration, so that a resumed run has the same size
  put(state, "workspace", workspace.size());
  write_safetensors(file, run_tensors(trainer), state);
}

void read_checkpoint(const std::string& file, Trainer& trainer) {
  Updater& updater = trainer.updater();
  IdleTensors idle(updater.network().device());
  updater.optimizer().states(updater.network().parameters());  // makes its tensors
  updater.add_idle(idle);
  std::optional<IdleTensors> read(Device::cpu());
  Metadata state;
  std::map<std::string, Tensor> found;
  for (NamedTensor& tensor : read_safetensors(file, &state)) {
    read->add(tensor.value);
    found.emplace(std::move(tensor.name), std::move(tensor.value));
  }
  try {
    expect(state, "checkpoint", "1");
    trainer.check(state);
    std::vector<NamedTensor> wanted = run_tensors(trainer);
    check_tensors(wanted, found);
    trainer.restore(state);
    for (NamedTensor& tensor : wanted) copy_into(tensor.value, found.at(tensor.name));
    updater.set_restore_error(nullptr);
    found.clear();
    read.reset();
    Device::cpu().memory().trim();
    if (state.contains("workspace"))  // the choice of solvers depends on it
      updater.network().device().workspace().reserve(get<uint64_t>(state, "workspace"));
  } catch (const Error& error) {
    throw Error(file + ": " + error.what());
  }
}

}  // namespace kaiseki::nn
