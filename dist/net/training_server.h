// SPDX-License-Identifier: MIT
// TrainingServer: a coordinator inside the training process, on a thread of its own.
#pragma once

#include <memory>
#include <string>

#include "dist/net/log.h"
#include "dist/net/server.h"
#include "dist/train/channel.h"

namespace kaiseki::dist {

struct TrainingServerOptions {
  ServerOptions server = {};  // `stop` is not used
  std::string author_token, node_token;
  bool public_data = true;  // false: only nodes with the token get tickets
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
