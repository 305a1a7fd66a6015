// SPDX-License-Identifier: MIT
#include "nn/train/trainer.h"

#include <cmath>

#include "base/log.h"
#include "matrix/memory/idle_tensors.h"
#include "nn/train/state_text.h"

namespace kaiseki::nn {

Trainer::Trainer(Updater& updater, const TrainerOptions& options)
    : updater_(updater), options_(options) {
  if (options_.epochs < 0)
    throw Error(message("train", "expected 0 or more epochs, got ", options_.epochs));
  if (options_.check_every && *options_.check_every < 1)
    throw Error(
        message("train", "expected a check every 1 or more steps, got ", *options_.check_every));
  if (!options_.check_every) options_.check_every = updater.network().device().is_cpu() ? 1 : 16;
}

Extension& Trainer::extend(std::unique_ptr<Extension> extension) {
  extensions_.push_back(std::move(extension));
  return *extensions_.back();
}

void Trainer::stop(std::string reason) {
  if (stopped_) return;
  stopped_ = true;
  stop_reason_ = std::move(reason);
}

const MetricTotals& Trainer::running_totals() {
  check_loss();
  return metrics_.read();
}

void Trainer::check_loss() {
  const double sum = metrics_.read().loss_sum;
  if (!std::isfinite(sum)) {
    std::string where = "step " + std::to_string(step());
    if (step() > checked_step_ + 1)
      where = "steps " + std::to_string(checked_step_ + 1) + " to " + std::to_string(step());
    const int64_t ended = updater_.iterator().is_new_epoch() ? epoch() : epoch() + 1;
    throw Diverged(
        message("train", "expected a finite loss, got ", sum, " in ", where, ", epoch ", ended));
  }
  checked_step_ = step();
}

void Trainer::warn_of_other_size() {
  const int64_t size = updater_.iterator().batch_size() * updater_.accumulate();
  if (restored_size_.value_or(size) != size)
    log_warning("the checkpoint's steps had " + std::to_string(*restored_size_) +
                " samples, and the next steps have " + std::to_string(size) +
                "; training continues at the same sample");
  restored_size_.reset();
}

void Trainer::run() {
  checked_step_ = step();
  for (auto& extension : extensions_) extension->on_start(*this);
  updater_.expect_restored();
  warn_of_other_size();
  while (!stopped_ && epoch() < options_.epochs) {
    Updater::Result result = updater_.update();
    IdleTensors idle(updater_.network().device());
    updater_.add_idle(idle);
    metrics_.add(result.loss, result.output, result.labels);
    const bool epoch_done = updater_.iterator().is_new_epoch();
    if (epoch_done || step() % *options_.check_every == 0) check_loss();
    if (epoch_done) {
      epoch_totals_ = metrics_.read();
      metrics_.reset();
    }
    for (auto& extension : extensions_) extension->on_step(*this);
    updater_.expect_restored();
    if (!epoch_done) continue;
    evaluation_.reset();
    for (auto& extension : extensions_) extension->on_epoch(*this);
  }
  IdleTensors idle(updater_.network().device());
  updater_.add_idle(idle);
  for (auto& extension : extensions_) extension->on_finish(*this);
}

Metadata Trainer::state() {
  updater_.expect_restored();
  const IteratorState iterator = updater_.iterator().state();
  const MetricTotals& totals = metrics_.read();
  Metadata state;
  put(state, "seed", options_.seed);
  put(state, "step", step());
  put(state, "optimizer", updater_.optimizer().options().name);
  put(state, "random_position", updater_.network().random_position());
  put(state, "iterator.seed", iterator.seed);
  put(state, "iterator.epoch", iterator.epoch);
  put(state, "iterator.position", iterator.position);
  put(state, "iterator.batch_size", updater_.iterator().batch_size());
  put(state, "iterator.samples", updater_.iterator().dataset().size());
  put(state, "accumulate", updater_.accumulate());
  put(state, "rate_scale", updater_.learning_rate_scale());
  put(state, "totals.samples", totals.samples);
  put(state, "totals.loss_sum", totals.loss_sum);
  put(state, "totals.classified", totals.classified);
  put(state, "totals.correct", totals.correct);
  for (const auto& extension : extensions_) extension->save(state);
  return state;
}

void Trainer::check(const Metadata& state) const {
  expect(state, "optimizer", updater_.optimizer().options().name);
  expect(state, "iterator.samples", std::to_string(updater_.iterator().dataset().size()));
}

void Trainer::restore(const Metadata& state) {
  options_.seed = get<uint64_t>(state, "seed");
  updater_.network().initialize(options_.seed);
  updater_.network().set_random_position(get<uint64_t>(state, "random_position"));
  updater_.optimizer().set_steps(get<int64_t>(state, "step"));
  IteratorState iterator;
  iterator.seed = get<uint64_t>(state, "iterator.seed");
  iterator.epoch = get<int64_t>(state, "iterator.epoch");
  iterator.position = get<int64_t>(state, "iterator.position");
  updater_.iterator().restore(iterator);
  updater_.scale_learning_rate(get<double>(state, "rate_scale"));
  restored_size_ = get<int64_t>(state, "iterator.batch_size") * get<int64_t>(state, "accumulate");
  MetricTotals totals;
  totals.samples = get<int64_t>(state, "totals.samples");
  totals.loss_sum = get<double>(state, "totals.loss_sum");
  totals.classified = get<int64_t>(state, "totals.classified");
  totals.correct = get<int64_t>(state, "totals.correct");
  metrics_.reset(totals);
  for (const auto& extension : extensions_) extension->restore(state);
}

}  // namespace kaiseki::nn
