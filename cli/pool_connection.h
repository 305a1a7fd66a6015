// SPDX-License-Identifier: MIT
// --pool serve|URL: a channel to the nodes of a pool, for kaiseki train and kaiseki fit.
#pragma once

#include <optional>
#include <string>

#include "cli/log_file.h"
#include "cli/options.h"
#include "dist/net/remote_pool.h"
#include "dist/net/training_server.h"

namespace kaiseki::cli {

class PoolConnection {
 public:
  /// Starts to serve, or connects to the coordinator. Throws Error with the option's name.
  PoolConnection(const PoolCommand& command, const dist::AuthorWork& work);

  dist::Channel& channel() { return server_ ? server_->channel() : remote_->channel(); }
  /// The pool of a coordinator in another process, or nullptr.
  dist::RemotePool* remote() { return remote_ ? &*remote_ : nullptr; }
  /// "nodes: kaiseki join http://127.0.0.1:8080", with the coordinator's owner if it is another
  /// process.
  std::string where() const;

 private:
  void connect(const PoolCommand& command, const dist::AuthorWork& work);
  bool find_own(const dist::TrainingServerOptions& how);

  const std::string url_;  // "serve", or the coordinator's
  LogFile log_;
  std::optional<dist::TrainingServer> server_;
  std::optional<dist::RemotePool> remote_;
  std::string own_;  // the URL of this user's coordinator, if one runs
};

}  // namespace kaiseki::cli
