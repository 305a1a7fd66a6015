// SPDX-License-Identifier: MIT
// ResultFollower: reads the ended tickets of a coordinator's task on a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "dist/net/http_client.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

class ResultFollower {
 public:
  /// Calls `take` on the follower's thread with each result, bytes of a blob included. `era` is the
  /// argument of follow().
  ResultFollower(const WireOptions& to, std::function<void(int64_t era, const Finished&)> take);
  ~ResultFollower();

  /// The task has new tickets. A new era means another task, which replaces the previous one.
  void follow(int64_t era, TaskId task);
  void leave();
  /// The error that ended the reading of the current task. Empty: there is none.
  std::string problem();

 private:
  void run();
  void read(int64_t era, TaskId task);
  bool take_line(int64_t era, std::string_view line);

  HttpClient lines_, blobs_;
  const std::function<void(int64_t, const Finished&)> take_;
  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  int64_t era_ = 0;
  std::optional<TaskId> task_;
  uint64_t added_ = 0, seen_ = 0;
  std::string problem_;
  bool stopping_ = false;

  int64_t last_era_ = 0, after_ = 0;  // used by the thread; after_: the last line's sequence
  std::thread thread_;                // last: starts after all members
};

}  // namespace kaiseki::dist
