// SPDX-License-Identifier: MIT
// kaiseki train
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/classes.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/pool_training.h"
#include "cli/progress.h"
#include "cli/run_settings.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/weights_file.h"
#include "matrix/log.h"
#include "nn/train/checkpoint.h"
#include "nn/train/early_stop.h"
#include "nn/train/metrics_log.h"
#include "nn/train/trainer.h"
#include "nn/weights.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

/// Stops training when the user asks for it.
class Interrupt : public nn::Extension {
  void on_step(nn::Trainer& trainer) override {
    if (interrupted()) trainer.stop("interrupted");
  }
};

nn::Schedule make_schedule(const TrainCommand& c, int64_t steps_per_epoch) {
  auto steps = [&](double epochs) {
    return static_cast<int64_t>(std::llround(epochs * static_cast<double>(steps_per_epoch)));
  };
  nn::Schedule schedule;
  schedule.name = c.schedule;
  schedule.base = c.learning_rate.value_or(nn::default_learning_rate(c.optimizer.name));
  schedule.warmup = steps(c.warmup);
  schedule.total = std::max<int64_t>(1, steps(static_cast<double>(c.epochs)));
  schedule.period = steps(c.step_size);
  schedule.gamma = c.gamma;
  schedule.minimum = c.minimum_rate;
  return schedule;
}

/// What does not fit the network is told and begins anew, its classes with it.
WeightsInfo start_from(const std::string& weights, nn::Network& network) {
  nn::LoadReport report;
  WeightsInfo info = load_weights_for(weights, network, &report);
  if (report.complete()) return info;
  std::printf("%s: %s", weights.c_str(), report.str().c_str());
  if (!report.missing.empty() || !report.mismatched.empty()) info.class_names.clear();
  return info;
}

/// Those of the weights where the data's are among them: labels keep their meaning.
std::vector<std::string> classes_to_learn(const nn::Dataset& data,
                                          const std::vector<std::string>& of_weights) {
  const auto own = class_names_of(data);
  if (of_weights.empty()) return own;
  if (classes_fit(own, of_weights))
    return own.size() == of_weights.size() && are_numbers(of_weights) ? own : of_weights;
  log_warning("the weights know the classes " + join(of_weights, ", ") +
              " and now learn others in their places: " + join(own, ", "));
  return own;
}

void print_header(const fs::path& file, const nn::Network& network, const nn::Dataset& train,
                  const nn::Dataset* test, const TrainCommand& c) {
  int64_t parameters = 0;
  for (const nn::LayerSummary& layer : network.summary()) parameters += layer.parameters;
  std::string samples = format_count(train.size());
  if (test) samples += " + " + format_count(test->size());
  const std::string between = terminal().unicode ? " · " : ", ";
  std::printf("%s\n", join({styled(Style::bold, title(network.name(), file)),
                            format_count(parameters) + " parameters",
                            c.data.data + " (" + samples + " samples)",
                            c.optimizer.name + " " + c.schedule, describe_device(network.device())},
                           between)
                          .c_str());
  std::fflush(stdout);
}

/// Where an interrupted run without --checkpoint goes: no other run's folder, which --resume would
/// continue instead.
std::string rescue_folder(const fs::path& network) {
  const std::string name = network.stem().string() + ".checkpoint";
  std::string folder = name;
  for (int i = 2; fs::exists(folder); ++i) folder = name + "-" + std::to_string(i);
  return folder;
}

struct Outcome {
  const nn::Checkpointer* checkpointer = nullptr;
  const nn::MetricsLog* log = nullptr;
};

Outcome add_extensions(const TrainCommand& c, nn::Trainer& trainer,
                       std::shared_ptr<const nn::Dataset> test, const WeightsInfo& info,
                       PoolTraining* pool) {
  Outcome outcome;
  auto progress = std::make_unique<Progress>();
  if (pool) progress->show_also([pool] { return pool->status(); });
  trainer.extend(std::make_unique<Interrupt>());
  trainer.extend(std::make_unique<RunSettings>(c));
  trainer.extend(std::make_unique<SameClasses>(info.class_names));
  if (test) {
    nn::EvaluateOptions how;
    how.progress = [shown = progress.get(), total = test->size()](int64_t done) {
      shown->show_evaluation(done, total);
    };
    trainer.extend(std::make_unique<nn::Evaluator>(test, how, c.evaluate_every));
  }
  if (pool) pool->extend(trainer);
  if (c.early_stop > 0) trainer.extend(std::make_unique<nn::EarlyStop>(c.early_stop));
  if (!c.checkpoint.empty()) {
    nn::CheckpointerOptions how;
    how.folder = c.checkpoint;
    how.every = c.checkpoint_every;
    how.keep = c.keep;
    how.metadata = to_metadata(info);
    auto checkpointer = std::make_unique<nn::Checkpointer>(how);
    outcome.checkpointer = checkpointer.get();
    trainer.extend(std::move(checkpointer));
  }
  if (!c.log.empty()) {
    auto log = std::make_unique<nn::MetricsLog>(c.log, c.log_every);
    outcome.log = log.get();
    trainer.extend(std::move(log));
  }
  trainer.extend(std::move(progress));
  return outcome;
}

void finish(const TrainCommand& c, nn::Trainer& trainer, const fs::path& network_file,
            const Outcome& outcome, const WeightsInfo& info) {
  nn::Network& network = trainer.updater().network();
  if (!trainer.stop_reason().empty())
    std::printf("stopped after step %s: %s\n", format_count(trainer.step()).c_str(),
                trainer.stop_reason().c_str());
  fs::path last = outcome.checkpointer ? outcome.checkpointer->last() : fs::path();
  std::string folder = c.checkpoint;
  const bool unfinished = interrupted() && trainer.epoch() < c.epochs;
  if (unfinished && !outcome.checkpointer) {
    folder = rescue_folder(network_file);
    fs::create_directories(folder);
    last = nn::checkpoint_file(folder, trainer.step());
    nn::write_checkpoint(last, trainer, to_metadata(info));
  }
  if (!c.save.empty()) {
    save_weights_of(c.save, network, info);
    std::printf("weights     %s\n", c.save.c_str());
  }
  if (!last.empty()) std::printf("checkpoint  %s\n", last.c_str());
  if (c.memory) std::printf("memory      %s\n", describe_memory(network.device()).c_str());
  if (unfinished)
    std::printf("continue with the same command and --checkpoint %s --resume\n", folder.c_str());
  if (outcome.checkpointer && !outcome.checkpointer->problem().empty())
    throw Error(outcome.checkpointer->problem());
  if (outcome.log && !outcome.log->problem().empty()) throw Error(outcome.log->problem());
}

}  // namespace

int run_command(const TrainCommand& c) {
  if (c.early_stop > 0 && c.evaluate_every == 0)
    throw Error("--early-stop: expected evaluations to judge by, got --eval-every 0");
  if (!c.checkpoint.empty() && !c.resume) nn::expect_no_checkpoints(c.checkpoint);
  const Device device = open_device(c.device);
  const fs::path network_file = find_network(c.network);
  nn::Network network = nn::Network::load(network_file, device);
  if (!network.has_weights()) network.initialize(c.seed);
  WeightsInfo info = from_metadata(network.metadata());
  if (!c.weights.empty()) info = start_from(c.weights, network);
  DataOptions data = c.data;
  if (data.mean.empty()) data.mean = info.mean;
  if (data.std.empty()) data.std = info.std;
  if (!data.resize) data.resize = info.resize;

  auto train = open_data(data, network, true, c.augment, c.data.limit);
  std::shared_ptr<const nn::Dataset> test;
  if (c.evaluate_every > 0) test = open_data(data, network, false, "", c.test_limit);
  info.class_names = classes_to_learn(*train, info.class_names);
  train = in_classes(train, info.class_names, c.data.data);
  if (test) test = in_classes(test, info.class_names, c.data.data);
  info.mean = data.mean;
  info.std = data.std;
  info.resize = data.resize;
  if (!c.save.empty()) expect_to_save("--save", c.save, network, info);
  if (!c.checkpoint.empty()) nn::expect_names(network, to_metadata(info));

  nn::IteratorOptions order;
  order.batch_size = c.batch_size;
  order.seed = c.seed;
  order.workers = c.workers;
  nn::Iterator iterator(train, order);
  nn::Optimizer optimizer(c.optimizer);
  const nn::Schedule schedule = make_schedule(c, iterator.batches_per_epoch());
  std::unique_ptr<PoolTraining> pool;
  if (!c.pool.where.empty()) pool = std::make_unique<PoolTraining>(c.pool);
  const auto updater =
      pool ? pool->make_updater(network, optimizer, iterator, schedule, data.mean, data.std)
           : std::make_unique<nn::Updater>(network, optimizer, iterator, schedule);
  nn::TrainerOptions how;
  how.epochs = c.epochs;
  how.seed = c.seed;
  nn::Trainer trainer(*updater, how);
  Outcome outcome = add_extensions(c, trainer, test, info, pool.get());

  print_header(network_file, network, *train, test.get(), c);
  if (pool) {
    std::printf("pool        %s\n", pool->where().c_str());
    std::fflush(stdout);
  }
  if (c.resume) {
    auto from = nn::resume(c.checkpoint, trainer);
    std::printf("%s\n", from ? ("continuing from " + from->string()).c_str()
                             : ("no checkpoint in " + c.checkpoint + ": starting anew").c_str());
  }
  catch_interrupts();
  try {
    trainer.run();
  } catch (const nn::Diverged& error) {
    std::string kept;
    if (outcome.checkpointer && !outcome.checkpointer->last().empty())
      kept = "; the last good checkpoint is " + outcome.checkpointer->last().string();
    throw Error(error.what() + kept);
  }
  if (pool) std::printf("pool        %s\n", pool->summary().c_str());
  finish(c, trainer, network_file, outcome, info);
  return 0;
}

}  // namespace kaiseki::cli
