// SPDX-License-Identifier: MIT
#include "nn/train/metrics_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/json_line.h"
#include "base/log.h"
#include "matrix/memory/allocator.h"
#include "nn/train/trainer.h"

namespace kaiseki::nn {
namespace {

double seconds_between(double start, double end) { return std::max(1e-9, end - start); }

}  // namespace

MetricsLog::MetricsLog(const std::string& file, int64_t every_steps)
    : path_(file), every_(std::max<int64_t>(1, every_steps)) {}

void MetricsLog::on_start(Trainer& trainer) {
  file_.reset(std::fopen(path_.c_str(), trainer.step() ? "a" : "w"));
  if (!file_) throw Error(message("log", "cannot write ", path_, ": ", std::strerror(errno)));
  start_ = last_time_ = epoch_time_ = steady_seconds();
  last_ = trainer.running_totals();
  epoch_samples_ = last_.samples;
  last_wait_ = epoch_wait_ = trainer.updater().iterator().wait_seconds();
}

void MetricsLog::on_step(Trainer& trainer) {
  step_time_ = steady_seconds();
  if (trainer.step() % every_ != 0 || trainer.updater().iterator().is_new_epoch()) return;
  const MetricTotals totals = trainer.running_totals();
  MetricTotals part = totals;
  part.samples -= last_.samples;
  part.loss_sum -= last_.loss_sum;
  part.classified -= last_.classified;
  part.correct -= last_.correct;
  line(trainer, false, part, part.samples);
  last_ = totals;
  last_wait_ = trainer.updater().iterator().wait_seconds();
  last_time_ = steady_seconds();
}

void MetricsLog::on_epoch(Trainer& trainer) {
  const MetricTotals& totals = trainer.epoch_totals();
  line(trainer, true, totals, totals.samples - epoch_samples_);
  last_ = {};
  epoch_samples_ = 0;
  last_wait_ = epoch_wait_ = trainer.updater().iterator().wait_seconds();
  last_time_ = epoch_time_ = steady_seconds();
}

void MetricsLog::line(Trainer& trainer, bool epoch, const MetricTotals& totals, int64_t samples) {
  const MemoryAccount memory = trainer.updater().network().device().memory().account();
  JsonLine json;
  json.add("event", epoch ? "epoch" : "step")
      .add("step", trainer.step())
      .add("epoch", trainer.epoch() + !epoch)
      .add("loss", totals.loss())
      .add("accuracy", totals.accuracy())
      .add("learning_rate", trainer.updater().learning_rate())
      .add("images_per_second",
           static_cast<double>(samples) / (epoch ? seconds_between(epoch_time_, step_time_)
                                                 : seconds_between(last_time_, steady_seconds())))
      .add("memory", memory.peak)
      .add("memory_in_use", memory.in_use)
      .add("memory_cached", memory.cached)
      .add("memory_workspace", memory.workspace)
      .add("data_wait",
           trainer.updater().iterator().wait_seconds() - (epoch ? epoch_wait_ : last_wait_))
      .add("seconds", seconds_between(start_, steady_seconds()));
  if (epoch && trainer.evaluation()) {
    json.add("test_loss", trainer.evaluation()->loss);
    json.add("test_accuracy", trainer.evaluation()->top1);
    json.add("test_top5", trainer.evaluation()->top5);
  }
  const std::string text = json.str() + "\n";
  if (std::fputs(text.c_str(), file_.get()) >= 0 && std::fflush(file_.get()) == 0) return;
  problem_ = message("log", "cannot write ", path_, ": ", std::strerror(errno));
  log_warning_once(problem_);
}

}  // namespace kaiseki::nn
