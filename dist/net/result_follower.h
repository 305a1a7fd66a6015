// SPDX-License-Identifier: MIT
// ResultFollower: hears, on a thread of its own, what of a coordinator's task has ended.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "dist/net/http_client.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

class ResultFollower {
 public:
  /// `take` is called on the follower's thread, with the result's bytes wherever they lie; `era` is
  /// that of follow().
  ResultFollower(const WireOptions& to, std::function<void(int64_t era, const Finished&)> take);
  ~ResultFollower();

  /// The task has new tickets. Another era is another task, and the one before is left.
  void follow(int64_t era, TaskId task);
  void leave();
  /// Why nothing comes any more of the task that is followed; empty: it does.
  std::string problem();

 private:
  void run();
  void read(int64_t era, TaskId task);
  bool take_line(int64_t era, std::string_view line);

  HttpClient lines_, blobs_;
  const std::function<void(int64_t, const Finished&)> take_;
  std::mutex mutex_;  // of these
  std::condition_variable changed_;
  int64_t era_ = 0, task_ = 0;  // task 0: none
  uint64_t added_ = 0, seen_ = 0;
  std::string problem_;
  bool stopping_ = false;

  int64_t last_era_ = 0, after_ = 0;  // the thread's: the last line's sequence
  std::thread thread_;                // last
};

}  // namespace kaiseki::dist
