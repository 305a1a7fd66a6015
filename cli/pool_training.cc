// SPDX-License-Identifier: MIT
#include "cli/pool_training.h"

#include <cmath>
#include <cstdio>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "cli/interrupt.h"
#include "cli/pool_connection.h"
#include "cli/text.h"
#include "dist/node/speed.h"
#include "dist/train/pool_after.h"
#include "matrix/ceil_div.h"

namespace kaiseki::cli {
namespace {

constexpr double kWindow = 5;  // in seconds
constexpr double kBenchmarkSeconds = 0.5;

dist::WireType wire_type(const std::string& name) {
  if (name == "f32") return dist::WireType::f32;
  return name == "i8" ? dist::WireType::i8 : dist::WireType::f16;
}

/// Reports the progress of training to the coordinator's console: once a second, and after each
/// test. The loss is the mean of the epoch so far.
class Report final : public nn::Extension {
 public:
  explicit Report(dist::RemotePool& pool) : pool_(pool) {}

  void on_step(nn::Trainer& trainer) override {
    if (last_report_ && steady_seconds() - *last_report_ < 1) return;
    last_report_ = steady_seconds();
    const bool epoch_done = trainer.updater().iterator().is_new_epoch();
    const double loss = (epoch_done ? trainer.epoch_totals() : trainer.running_totals()).loss();
    if (std::isfinite(loss)) pool_.report(point(trainer, loss, {}));
  }
  void on_epoch(nn::Trainer& trainer) override {
    if (const auto& test = trainer.evaluation(); test && test->classes)
      pool_.report(point(trainer, {}, test->top1));
  }

 private:
  /// An earlier part of the run may have had another batch size.
  static int64_t steps_left(const nn::Iterator& iterator, int64_t epochs) {
    const int64_t rest = iterator.dataset().size() - iterator.position();
    const int64_t of_epoch = ceil_div(rest, iterator.batch_size());
    const int64_t whole = epochs - iterator.epoch() - 1;
    return whole < 0 ? 0 : of_epoch + whole * iterator.batches_per_epoch();
  }
  static dist::CurvePoint point(nn::Trainer& trainer, std::optional<double> loss,
                                std::optional<double> accuracy) {
    const nn::Iterator& iterator = trainer.updater().iterator();
    const int64_t epochs = trainer.options().epochs;
    return {.step = trainer.step(),
            .loss = loss,
            .accuracy = accuracy,
            .steps = trainer.step() + steps_left(iterator, epochs),
            .epoch = trainer.epoch() + (iterator.is_new_epoch() ? 0 : 1),
            .epochs = epochs};
  }

  dist::RemotePool& pool_;
  std::optional<double> last_report_;
};

}  // namespace

struct PoolTraining::Impl {
  explicit Impl(const PoolTrainCommand& c) : command(c), pool(c, {.public_data = !c.is_private}) {
    if (!c.after.empty()) after = dist::parse_pool_after(c.after);
  }

  const PoolTrainCommand command;
  PoolConnection pool;
  std::optional<dist::PoolAfter> after;
  dist::PoolUpdater* updater = nullptr;
  std::deque<std::pair<double, int64_t>> marks;  // the number of results at recent times
};

PoolTraining::PoolTraining(const PoolTrainCommand& command)
    : impl_(std::make_unique<Impl>(command)) {}
PoolTraining::~PoolTraining() = default;

std::unique_ptr<nn::Updater> PoolTraining::make_updater(nn::Network& network,
                                                        nn::Optimizer& optimizer,
                                                        nn::Iterator& iterator,
                                                        const nn::Schedule& schedule) {
  const PoolTrainCommand& c = impl_->command;
  dist::PoolTrainingOptions how;
  how.mode = dist::parse_pool_mode(c.mode);
  how.wire = wire_type(c.wire);
  how.border = c.border;
  how.ticket_samples = c.ticket_samples;
  how.alone = impl_->after.has_value();
  how.stop = interrupted;
  how.server.gflops = dist::measure_gflops(network.device(), kBenchmarkSeconds, interrupted);
  auto updater = std::make_unique<dist::PoolUpdater>(network, optimizer, iterator, schedule,
                                                     impl_->pool.channel(), how);
  impl_->updater = updater.get();
  return updater;
}

void PoolTraining::extend(nn::Trainer& trainer) {
  if (dist::RemotePool* remote = impl_->pool.remote())
    trainer.extend(std::make_unique<Report>(*remote));
  if (impl_->after)
    trainer.extend(std::make_unique<dist::JoinPool>(*impl_->updater, *impl_->after));
}

std::string PoolTraining::where() const { return impl_->pool.where(); }

std::string PoolTraining::status() {
  auto& marks = impl_->marks;
  const double now = steady_seconds();
  marks.emplace_back(now, impl_->updater->counts().accepted);
  auto seconds = [&] { return now - marks.front().first; };
  while (seconds() > kWindow && marks.size() > 2) marks.pop_front();
  const auto done = static_cast<double>(marks.back().second - marks.front().second);
  const double rate = seconds() > 0 ? done / seconds() : 0;
  const size_t nodes = impl_->pool.channel().nodes().size();
  return std::to_string(nodes) + (nodes == 1 ? " node  " : " nodes  ") +
         format_number("%.0f", rate) + " tickets/s";
}

std::string PoolTraining::summary() const {
  const dist::GatherCounts& counts = impl_->updater->counts();
  std::string step;
  if (const auto seconds = impl_->updater->step_seconds())
    step = "; a step " + format_number("%.3g", seconds->measured) + " s, planned " +
           format_number("%.3g", seconds->planned) + " s";
  return format_count(counts.accepted) + " tickets by nodes, " + format_count(counts.by_server) +
         " here, " + format_count(counts.checked) + " checked, " + format_count(counts.expelled) +
         " nodes expelled, " + format_count(counts.undone) + " steps trained again; mode " +
         std::string(dist::pool_mode_name(impl_->updater->mode())) + step;
}

}  // namespace kaiseki::cli
