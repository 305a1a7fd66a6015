// SPDX-License-Identifier: MIT
// Project and Task: a client of a pool adds inputs and gets results. It uses the HTTP API
// (docs/openapi.yaml) of a coordinator in this process (Server::url()) or on another machine.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "dist/net/api_client.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

/// A group of tasks on a coordinator. The tasks have a common share of the nodes and common blobs.
/// The destructor deletes the project on the coordinator, with its tasks and results. Any thread
/// may use it. It must outlive its tasks.
class Project {
 public:
  /// `to` contains the author's token. The constructor and the calls below throw AuthorLost
  /// (dist/net/author.h) if the coordinator does not answer. They throw Error with its message if
  /// it refuses.
  Project(const WireOptions& to, const std::string& name, double weight = 1);
  ~Project();
  Project(const Project&) = delete;
  Project& operator=(const Project&) = delete;

  /// Stores a blob for TaskSpec::module or TicketSpec::blobs, for the life of the project.
  BlobHash put_blob(ByteView bytes);

 private:
  friend class Task;
  HttpReply request(const std::string& method, const std::string& path, ByteView body = {});
  Json ask(const std::string& method, const std::string& path, const Json& body = {});
  int64_t make(const std::string& path, const Json& body, const char* what);

  const WireOptions to_;
  std::mutex mutex_;
  ApiClient client_;  // protected by mutex_
  int64_t id_ = 0;
};

/// Runs code on inputs, in one or more iterations. Use it in one thread, except the calls for any
/// thread. If the coordinator restarts, block() and for_each_finished() wait for it. The other
/// calls and the constructor throw AuthorLost if it does not answer. They may be repeated.
class Task {
 public:
  Task(Project& project, const TaskSpec& spec);
  /// Cancels the open tickets.
  ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  /// Adds a ticket for each input. A text is an input with its bytes. Returns the number of the
  /// first input; the others follow. After block() or for_each_finished() a new iteration begins:
  /// numbers start at 0, and the coordinator deletes the earlier tickets. If it throws, none of the
  /// inputs are added, and their numbers are used again. Late results for these tickets are
  /// discarded.
  size_t calculate(std::span<const TicketSpec> inputs);
  size_t calculate(std::span<const std::string> inputs);

  /// Passes each result to `take` as it comes, in any order, until all inputs have ended. `take`
  /// may call calculate(). Then throws Error with reasons if all attempts of some inputs failed.
  /// Throws Error at once if the task is cancelled. Throws AuthorLost if the coordinator does not
  /// answer for a minute (WireOptions::silence). After an exception, also one of `take`, it can be
  /// called again for the remaining results.
  void for_each_finished(const std::function<void(size_t input, ByteVector result)>& take);
  /// Calls for_each_finished() and returns the results by number.
  std::vector<ByteVector> block();

  // The following functions may be called from any thread.
  /// Cancels the task permanently. block() and for_each_finished() then throw.
  void cancel();
  void set_priority(int priority);
  /// The progress of the task's tickets on the coordinator.
  Progress progress();

 private:
  using Take = std::function<void(size_t input, ByteVector result)>;
  std::string path() const { return "/api/tasks/" + std::to_string(id_); }
  size_t add(std::span<const TicketSpec> inputs);
  bool is_open();
  void follow(const Take& take);
  bool take_line(std::string_view line, const Take& take);
  bool may_retry(const char* why);
  void expect_no_dead();

  Project& project_;
  HttpClient lines_;  // reads the lines of results
  const TaskId id_;
  std::atomic<bool> cancelled_ = false;
  size_t count_ = 0;                 // number of inputs
  bool iteration_ended_ = false;     // all inputs have ended
  bool has_orphans_ = false;         // the coordinator may have tickets of a calculate() that threw
  int64_t after_ = 0;                // the sequence of the last result
  std::map<TicketId, size_t> open_;  // inputs by ticket that have not ended
  std::map<TicketId, size_t> dead_;  // dead inputs that no exception has reported yet
  /// The time since which the coordinator does not answer.
  std::optional<double> lost_;
  /// The source of an error.
  enum class At : uint8_t { stream, line, take } at_ = At::stream;
};

}  // namespace kaiseki::dist
