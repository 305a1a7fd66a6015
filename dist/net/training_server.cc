// SPDX-License-Identifier: MIT
#include "dist/net/training_server.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "dist/net/coordinator.h"
#include "dist/net/pool_channel.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {
namespace {

namespace fs = std::filesystem;

/// A folder that the destructor deletes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    // mkdtemp() replaces six letters X at the end, so that each run has a folder of its own.
    std::string name =
        (fs::temp_directory_path() / ("kaiseki-train-" + std::string(6, 'X'))).string();
    if (!mkdtemp(name.data()))
      throw Error(message("train", "cannot make ", name, ": ", std::strerror(errno)));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// A step waits for its slowest ticket, so nodes hold no further tickets.
PoolOptions pool_options(PoolChannel& channel) {
  PoolOptions options;
  options.hold_seconds = 0.01;
  options.on_finished = [&channel](const Finished& one) { channel.finished(one); };
  options.on_task = [&channel](TaskId) { channel.changed(); };
  return options;
}

}  // namespace

struct TrainingServer::Impl {
  explicit Impl(const TrainingServerOptions& given)
      : log(given.log, given.server.limits.log_lines_per_second),
        server(with_stop(given.server), metrics, log),
        blobs(folder.path(), {.durable = false}),
        store(open_sqlite_store(":memory:")),
        channel([this](std::function<void()> call) { server.post(std::move(call)); }),
        coordinator({.store = *store,
                     .blobs = blobs,
                     .server = server,
                     .metrics = metrics,
                     .log = log,
                     .pool = pool_options(channel)},
                    {.author_token = given.author_token,
                     .node_token = given.node_token,
                     .limits = given.server.limits,
                     .on_nodes = [this] { channel.changed(); }}) {
    channel.start(local_author(coordinator.pool(), blobs, given.work), given.work.name);
    thread = std::thread([this] { serve(); });
  }

  ~Impl() {
    stopping = true;
    thread.join();
  }

  ServerOptions with_stop(ServerOptions options) {
    options.stop = [this] { return stopping.load(); };
    return options;
  }

  void serve() {
    try {
      server.run(coordinator);
    } catch (const std::exception& error) {
      channel.fail(error.what());
    }
  }

  std::atomic<bool> stopping = false;
  ServerMetrics metrics;
  EventLog log;
  Server server;
  TemporaryFolder folder;
  BlobStore blobs;
  std::unique_ptr<Store> store;
  PoolChannel channel;
  Coordinator coordinator;
  std::thread thread;
};

TrainingServer::TrainingServer(const TrainingServerOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}

TrainingServer::~TrainingServer() = default;

Channel& TrainingServer::channel() { return impl_->channel; }
std::string TrainingServer::url() const { return impl_->server.url(); }

}  // namespace kaiseki::dist
