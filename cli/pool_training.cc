// SPDX-License-Identifier: MIT
#include "cli/pool_training.h"

#include <cmath>
#include <cstdio>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "cli/for_option.h"
#include "cli/interrupt.h"
#include "cli/log_file.h"
#include "cli/state_folder.h"
#include "cli/text.h"
#include "dist/net/author.h"
#include "dist/net/remote_pool.h"
#include "dist/net/training_server.h"
#include "dist/node/speed.h"
#include "dist/train/pool_after.h"

namespace kaiseki::cli {
namespace {

constexpr double kWindow = 5;  // in seconds
constexpr int kPort = 8080;
constexpr double kSilence = 15;  // in seconds
constexpr double kBenchmarkSeconds = 0.5;

dist::WireType wire_type(const std::string& name) {
  if (name == "f32") return dist::WireType::f32;
  return name == "i8" ? dist::WireType::i8 : dist::WireType::f16;
}

dist::TrainingServerOptions server_options(const PoolTrainCommand& c, std::FILE* log) {
  dist::TrainingServerOptions how;
  how.server.port = static_cast<uint16_t>(c.port.value_or(kPort));
  how.server.limits.drain_seconds = 1;  // after the last step no node waits for a ticket
  // A node opens a connection for each blob, and a machine may run several nodes.
  how.server.limits.connections_per_second = 1000;
  how.server.limits.sockets_per_address = 1000;
  const auto folder = state_folder("");
  how.author_token = token_of(folder / kAuthorToken);
  how.node_token = token_of(folder / kNodeToken);
  how.work.public_data = !c.is_private;
  if (log)
    how.log = [log](const std::string& line) {
      std::fprintf(log, "%s\n", line.c_str());
      std::fflush(log);
    };
  return how;
}

dist::WireOptions coordinator_of(const PoolTrainCommand& c) {
  if (c.port || !c.log.empty())
    throw Error(std::string(c.port ? "--pool-port" : "--pool-log") +
                ": expected --pool serve, got --pool " + c.where);
  const dist::CoordinatorUrl url =
      for_option("--pool", [&] { return dist::parse_coordinator_url(c.where); });
  return {.url = url,
          .token = token_for(url, {"--pool-token-file", c.token_file}, kAuthorToken),
          .certificates = c.certificates,
          .silence = kSilence};
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
  static dist::CurvePoint point(nn::Trainer& trainer, std::optional<double> loss,
                                std::optional<double> accuracy) {
    const nn::Iterator& iterator = trainer.updater().iterator();
    const int64_t epochs = trainer.options().epochs;
    return {.step = trainer.step(),
            .loss = loss,
            .accuracy = accuracy,
            .steps = epochs * iterator.batches_per_epoch(),
            .epoch = trainer.epoch() + (iterator.is_new_epoch() ? 0 : 1),
            .epochs = epochs};
  }

  dist::RemotePool& pool_;
  std::optional<double> last_report_;
};

}  // namespace

struct PoolTraining::Impl {
  explicit Impl(const PoolTrainCommand& c) : command(c) {
    if (!c.after.empty()) after = dist::parse_pool_after(c.after);
    if (c.where != "serve") {
      connect(c);
      return;
    }
    if (!c.token_file.empty() || !c.certificates.empty())
      throw Error(std::string(c.token_file.empty() ? "--pool-tls-ca" : "--pool-token-file") +
                  ": expected --pool URL, got --pool serve");
    log = open_log("--pool-log", c.log);
    const dist::TrainingServerOptions how = server_options(c, log.get());
    try {
      server.emplace(how);
    } catch (const Error&) {
      if (log || !find_own(how)) throw;
    }
  }

  /// Tries this user's own coordinator if it is using the port. Returns whether there is one.
  bool find_own(const dist::TrainingServerOptions& how) {
    own = "http://127.0.0.1:" + std::to_string(how.server.port);
    try {
      remote.emplace(dist::WireOptions{.url = dist::parse_coordinator_url(own),
                                       .token = how.author_token,
                                       .silence = kSilence},
                     how.work);
    } catch (const Error&) {  // another program uses the port
      return false;
    }
    return true;
  }

  dist::Channel& channel() { return server ? server->channel() : remote->channel(); }

  void connect(const PoolTrainCommand& c) {
    try {
      remote.emplace(coordinator_of(c), dist::AuthorWork{.public_data = !c.is_private});
    } catch (const dist::WrongToken& error) {
      throw Error(std::string(error.what()) + "; --pool-token-file names the file with it");
    } catch (const dist::UntrustedCertificate& error) {
      throw Error(std::string(error.what()) +
                  "; --pool-tls-ca names a file of certificates to trust");
    }
  }

  const PoolTrainCommand command;
  LogFile log;
  std::optional<dist::TrainingServer> server;
  std::optional<dist::RemotePool> remote;
  std::string own;  // the URL of this user's coordinator, if one runs
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
                                                     impl_->channel(), how);
  impl_->updater = updater.get();
  return updater;
}

void PoolTraining::extend(nn::Trainer& trainer) {
  if (impl_->remote) trainer.extend(std::make_unique<Report>(*impl_->remote));
  if (impl_->after)
    trainer.extend(std::make_unique<dist::JoinPool>(*impl_->updater, *impl_->after));
}

std::string PoolTraining::where() const {
  const std::string join = "nodes: kaiseki join ";
  if (impl_->server) return join + impl_->server->url();
  if (impl_->command.where != "serve") return join + impl_->command.where;
  return "through your coordinator at " + impl_->own + "; " + join + impl_->own;
}

std::string PoolTraining::status() {
  auto& marks = impl_->marks;
  const double now = steady_seconds();
  marks.emplace_back(now, impl_->updater->counts().accepted);
  auto seconds = [&] { return now - marks.front().first; };
  while (seconds() > kWindow && marks.size() > 2) marks.pop_front();
  const auto done = static_cast<double>(marks.back().second - marks.front().second);
  const double rate = seconds() > 0 ? done / seconds() : 0;
  const size_t nodes = impl_->channel().nodes().size();
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
