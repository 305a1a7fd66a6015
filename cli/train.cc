// SPDX-License-Identifier: MIT
// kaiseki train
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/busy_time.h"
#include "base/log.h"
#include "cli/automatic_batch.h"
#include "cli/classes.h"
#include "cli/cluster_training.h"
#include "cli/commands.h"
#include "cli/for_option.h"
#include "cli/interrupt.h"
#include "cli/pool_training.h"
#include "cli/progress.h"
#include "cli/run_settings.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/trace_file.h"
#include "cli/train_ending.h"
#include "cli/weights_file.h"
#include "matrix/memory/idle_tensors.h"
#include "nn/train/checkpoint.h"
#include "nn/train/early_stop.h"
#include "nn/train/evaluator.h"
#include "nn/train/metrics_log.h"
#include "nn/train/trainer.h"
#include "nn/weights.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

/// Stops training at the user's signal.
class Interrupt : public nn::Extension {
  void on_step(nn::Trainer& trainer) override {
    if (interrupted()) trainer.stop("interrupted");
  }
};

/// A device measures its busy time if it is opened for that.
Device device_of(const TrainCommand& c) {
  std::optional<BusyTimeMeasurement> measured;
  if (c.batch_size == "auto:usage") measured.emplace();
  return open_device(c.device);
}

bool is_automatic(const TrainCommand& c) { return c.batch_size.starts_with("auto"); }

/// Returns the complete recipe: the options, then the network's recipe, then the defaults.
nn::Recipe recipe_for(const TrainCommand& c, const nn::Network& network) {
  nn::Recipe given = c.recipe;
  if (!c.batch_size.empty() && !is_automatic(c)) given.batch_size = std::stoll(c.batch_size);
  const nn::Recipe recipe =
      nn::completed(given, nn::completed(network.recipe(), nn::default_recipe()));
  if (c.early_stop > 0 && c.evaluate_every == 0)
    throw Error("--early-stop: expected evaluations, got --eval-every 0");
  if ((c.accumulate > 1 || is_automatic(c)) && !c.pool.where.empty())
    throw Error(std::string(c.accumulate > 1 ? "--accumulate" : "--batch-size auto") +
                ": expected no --pool, as its nodes share each minibatch, got --pool " +
                printable(c.pool.where));
  if (!c.scale_rate.empty() && !is_automatic(c))
    throw Error("--scale-lr: expected --batch-size auto, got --batch-size " +
                std::to_string(*recipe.batch_size));
  if (recipe.schedule == "step" && !recipe.step_size)
    throw Error("--schedule step: expected --step-size, got none");
  const double rate = nn::learning_rate_of(recipe);
  if (*recipe.minimum_rate > rate)
    throw Error("--min-lr: expected at most the learning rate " + format_number("%g", rate) +
                ", got " + format_number("%g", *recipe.minimum_rate));
  return recipe;
}

/// Completes the options of the data from the weights, then from the recipe.
void complete(DataFlags& data, const WeightsInfo& info, const nn::Recipe& recipe) {
  auto set = [](std::vector<float>& to, const std::vector<float>& stored, const auto& listed) {
    if (to.empty()) to = stored;
    if (to.empty() && listed) to.assign(listed->begin(), listed->end());
  };
  set(data.mean, info.mean, recipe.mean);
  set(data.std, info.std, recipe.std);
  if (!data.resize) data.resize = info.resize;
  if (!data.resize) data.resize = static_cast<int>(recipe.resize.value_or(0));
}

/// Loads weights. Reports and initializes layers that do not fit the network. If there are any,
/// the returned information has no class names.
WeightsInfo start_from(const std::string& weights, nn::Network& network) {
  nn::LoadReport report;
  WeightsInfo info = load_weights_for(weights, network, &report);
  if (report.complete()) return info;
  std::printf("%s: ", printable(weights).c_str());
  for (const std::string& line : split(report.str(), '\n'))
    if (!line.empty()) std::printf("%s\n", printable(line).c_str());
  if (!report.missing.empty() || !report.mismatched.empty()) info.class_names.clear();
  return info;
}

/// Returns the weights' classes if they include the data's, so that labels keep their meaning.
std::vector<std::string> classes_to_learn(const nn::Dataset& data,
                                          const std::vector<std::string>& of_weights) {
  const auto own = class_names_of(data);
  if (of_weights.empty()) return own;
  if (classes_fit(own, of_weights))
    return own.size() == of_weights.size() && are_numbers(of_weights) ? own : of_weights;
  log_warning("the weights have the classes " + join(of_weights, ", ") +
              ". The training replaces them by the classes " + join(own, ", "));
  return own;
}

/// The settings of a recipe that have an effect, such as "adam 0.001 cosine".
std::vector<std::string> describe(const nn::Recipe& r, const TrainCommand& c,
                                  const DataFlags& data) {
  auto number = [](double value) { return format_number("%g", value); };
  std::string optimizer = *r.optimizer + " " + number(nn::learning_rate_of(r)) + " " + *r.schedule;
  if (*r.warmup > 0) optimizer += ", warmup " + number(*r.warmup);
  if (r.weight_decay.value_or(0) > 0) optimizer += ", decay " + number(*r.weight_decay);
  if (*r.clip_norm > 0) optimizer += ", clip norm " + number(*r.clip_norm);
  std::vector<std::string> parts = {
      format_count(*r.epochs) + (r.epochs == 1 ? " epoch" : " epochs") + " in batches of " +
          (is_automatic(c) ? "an automatic size" : format_count(*r.batch_size)) +
          (c.accumulate > 1 ? ", " + format_count(c.accumulate) + " in a step" : ""),
      optimizer};
  std::vector<std::string> pictures;
  if (data.resize) pictures.push_back("resize " + std::to_string(data.resize));
  if (r.augment != "none") pictures.push_back(*r.augment);
  if (!pictures.empty()) parts.push_back(join(pictures, ", "));
  return parts;
}

void print_header(const fs::path& file, const nn::Network& network, const nn::Dataset& train,
                  const nn::Dataset* test, const TrainCommand& c, const DataFlags& data,
                  const nn::Recipe& recipe) {
  int64_t parameters = 0;
  for (const nn::LayerSummary& layer : network.summary()) parameters += layer.parameters;
  std::string samples = format_count(train.size());
  if (test) samples += " + " + format_count(test->size());
  std::vector<std::string> parts = {styled(TextStyle::bold, title(network.name(), file)),
                                    format_count(parameters) + " parameters",
                                    printable(data.data) + " (" + samples + " samples)"};
  for (std::string& part : describe(recipe, c, data)) parts.push_back(std::move(part));
  parts.push_back(describe_device(network.device()));
  print_parts(parts, terminal().unicode ? " · " : ", ");
}

void add_extensions(TrainRun& run, const nn::Recipe& recipe,
                    const std::shared_ptr<const nn::Dataset>& test, PoolTraining* pool,
                    ClusterTraining* cluster) {
  const TrainCommand& c = run.command;
  nn::Trainer& trainer = run.trainer;
  run.follows = cluster && !cluster->leads();
  run.weights_are_old = cluster && cluster->divides_layers();
  auto progress = std::make_unique<ProgressDisplay>();
  if (pool) progress->show_also([pool] { return pool->status(); });
  if (is_automatic(c)) add_automatic_batch(trainer, c);
  if (cluster)
    cluster->extend(trainer);
  else
    trainer.extend(std::make_unique<Interrupt>());
  trainer.extend(std::make_unique<RunSettings>(c, recipe));
  trainer.extend(std::make_unique<SameClasses>(run.info.class_names));
  if (test) {
    nn::EvaluateOptions how;
    const int64_t total = cluster ? cluster->share_of_test().count(test->size()) : test->size();
    if (!run.follows)
      how.progress = [shown = progress.get(), total](int64_t done) {
        shown->on_evaluation(done, total);
      };
    trainer.extend(cluster ? cluster->make_evaluator(test, how, c.evaluate_every)
                           : std::make_unique<nn::Evaluator>(test, how, c.evaluate_every));
  }
  if (pool) pool->extend(trainer);
  if (c.early_stop > 0) trainer.extend(std::make_unique<nn::EarlyStop>(c.early_stop));
  if (run.follows) return;
  if (!c.checkpoint.empty()) {
    nn::CheckpointerOptions how;
    how.folder = c.checkpoint;
    how.every = c.checkpoint_every;
    how.keep = c.keep;
    how.metadata = to_metadata(run.info);
    auto checkpointer =
        for_option("--checkpoint", [&] { return std::make_unique<nn::Checkpointer>(how); });
    run.checkpointer = checkpointer.get();
    trainer.extend(std::move(checkpointer));
  }
  if (!c.log.empty()) {
    auto log = std::make_unique<nn::MetricsLog>(c.log, c.log_every);
    run.log = log.get();
    trainer.extend(std::move(log));
  }
  run.progress = progress.get();
  trainer.extend(std::move(progress));
}

/// Throws Error if the folder of a new run has the checkpoints of another run.
void check_folder(const TrainCommand& c) {
  if (c.checkpoint.empty() || c.resume) return;
  for_option("--checkpoint", [&] {
    try {
      nn::expect_no_checkpoints(c.checkpoint);
    } catch (const nn::CheckpointsExist& error) {
      throw Error(error.as_message() + "; --resume resumes that run");
    }
  });
}

/// `cluster`: nullptr if this process trains alone, or with a pool.
int train(const TrainCommand& c, ClusterTraining* cluster) {
  check_folder(c);
  TraceFile trace(c.trace);
  const Device device = device_of(c);
  const fs::path network_file = find_network(c.network);
  nn::Network network = nn::Network::load(network_file, device);
  const nn::Recipe recipe = recipe_for(c, network);
  if (!network.has_weights()) network.initialize(c.seed);
  WeightsInfo info = from_metadata(network.metadata());
  if (!c.weights.empty()) info = start_from(c.weights, network);
  DataFlags data = c.data;
  data.mean = mean_for(network, c.data.mean, c.data.mean_image);
  complete(data, info, recipe);

  auto train = open_data(data, network, true, *recipe.augment, c.data.limit);
  std::shared_ptr<const nn::Dataset> test;
  if (c.evaluate_every > 0) test = open_data(data, network, false, "none", c.test_limit);
  info.class_names = classes_to_learn(*train, info.class_names);
  train = in_classes(train, info.class_names, c.data.data);
  if (test) test = in_classes(test, info.class_names, c.data.data);
  info.mean = data.mean;
  info.std = data.std;
  info.resize = data.resize;
  if (!c.save.empty()) expect_to_save("--save", c.save, network, info);
  if (!c.checkpoint.empty()) nn::check_storable_names(network, to_metadata(info));

  nn::IteratorOptions order;
  order.batch_size = *recipe.batch_size;
  order.seed = c.seed;
  order.workers = c.workers;
  order.files = !c.pool.where.empty() && c.pool.wire != "f32";
  if (cluster) {
    cluster->choose_plan(network, recipe);
    order.share = cluster->share();
  }
  nn::Iterator iterator(train, order);
  nn::Optimizer optimizer(nn::optimizer_of(recipe));
  const nn::Schedule schedule = nn::schedule_of(recipe, train->size());
  std::unique_ptr<PoolTraining> pool;
  if (!c.pool.where.empty()) pool = std::make_unique<PoolTraining>(c.pool);
  const auto updater =
      cluster ? cluster->make_updater(network, optimizer, iterator, schedule)
      : pool  ? pool->make_updater(network, optimizer, iterator, schedule)
              : std::make_unique<nn::Updater>(network, optimizer, iterator, schedule, c.accumulate);
  nn::TrainerOptions how;
  how.epochs = *recipe.epochs;
  how.seed = c.seed;
  if (cluster) how.check_every = 1;  // all ranks see the same loss
  nn::Trainer trainer(*updater, how);
  TrainRun training{
      .command = c, .trainer = trainer, .network_file = network_file, .info = info, .trace = trace};
  add_extensions(training, recipe, test, pool.get(), cluster);

  print_header(network_file, network, *train, test.get(), c, data, recipe);
  if (pool) {
    std::printf("pool        %s\n", pool->where().c_str());
    std::fflush(stdout);
  }
  if (cluster) {
    std::printf("cluster     %s\n", cluster->where().c_str());
    std::printf("cluster     %s\n", cluster->plan().c_str());
    std::fflush(stdout);
  }
  if (c.resume) {
    auto from = nn::resume(c.checkpoint, trainer);
    std::printf(
        "%s\n",
        from ? ("continuing from " + *from).c_str()
             : ("no checkpoint in " + c.checkpoint + ": starting from the beginning").c_str());
    if (c.recipe.learning_rate) updater->scale_learning_rate(1);
  }
  catch_interrupts();
  trace.start(network);
  try {
    run(training);
    trace.stop(network);
  } catch (...) {
    trace.write_after_error(network);
    throw;
  }
  if (pool) std::printf("pool        %s\n", pool->summary().c_str());
  if (cluster) std::printf("cluster     %s\n", cluster->summary().c_str());
  IdleTensors idle(network.device());
  updater->add_idle(idle);
  if (!training.follows) finish(training);
  return 0;
}

}  // namespace

int run_command(const TrainCommand& c) {
  if (c.cluster.empty()) return train(c, nullptr);
  ClusterTraining cluster(c);
  return cluster.run([&] { return train(cluster.command(), &cluster); });
}

}  // namespace kaiseki::cli
