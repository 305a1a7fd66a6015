// SPDX-License-Identifier: MIT
// TrainingServer: a coordinator on a thread of its own inside the process that trains.
#pragma once

#include <memory>
#include <string>

#include "dist/net/log.h"
#include "dist/net/server.h"
#include "dist/train/channel.h"

namespace kaiseki::dist {

struct TrainingServerOptions {
  ServerOptions server = {};  // `stop` is not asked
  std::string author_token, node_token;
  bool public_data = true;  // false: only nodes with the token get tickets
  EventLog::Sink log = {};
};

class TrainingServer {
 public:
  /// Serves when it returns. Tickets and blobs are this run's alone: they lie in memory and in a
  /// temporary folder, and go with it. Throws Error as Server does.
  explicit TrainingServer(const TrainingServerOptions& options);
  ~TrainingServer();

  Channel& channel();
  std::string url() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
