// SPDX-License-Identifier: MIT
// TrainingServer: a coordinator inside the process that trains or searches a grid, on a thread of
// its own.
#pragma once

#include <memory>
#include <string>

#include "dist/net/author.h"
#include "dist/net/log.h"
#include "dist/net/server.h"
#include "dist/train/channel.h"

namespace kaiseki::dist {

struct TrainingServerOptions {
  ServerOptions server = {};  // `stop` is not used
  std::string author_token, node_token;
  AuthorWork work = {};
  EventLog::Sink log = {};
};

class TrainingServer {
 public:
  /// Serves as soon as it returns. Tickets and blobs are in memory and in a temporary folder, which
  /// the destructor deletes. Throws Error as Server does.
  explicit TrainingServer(const TrainingServerOptions& options);
  ~TrainingServer();

  Channel& channel();
  std::string url() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
