// SPDX-License-Identifier: MIT
// Project and Task: what a program gives to a pool, and what comes back. They speak the API of
// docs/openapi.yaml: the coordinator is anywhere, also in this process (Server::url()).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/net/http_client.h"
#include "dist/pool/types.h"
#include "nn/json.h"

namespace kaiseki::dist {

/// What tasks have together at a coordinator: a share of the nodes, and blobs. It goes there, with
/// its tasks and their results, when this goes. Used by any thread; outlives its tasks.
class Project {
 public:
  /// `to` has the author's token. This and the calls below throw AuthorLost (dist/net/author.h)
  /// when the coordinator does not answer, Error with what it says when it refuses.
  Project(const WireOptions& to, const std::string& name, double weight = 1);
  ~Project();
  Project(const Project&) = delete;
  Project& operator=(const Project&) = delete;

  /// For TaskSpec::module and TicketSpec::blobs; it stays as long as the project.
  BlobHash put_blob(ByteView bytes);

 private:
  friend class Task;
  HttpReply request(const std::string& method, const std::string& path, ByteView body = {});
  nn::Json ask(const std::string& method, const std::string& path, const nn::Json& body = {});
  int64_t make(const std::string& path, const nn::Json& body, const char* what);

  const WireOptions to_;
  std::mutex mutex_;
  HttpClient client_;  // its
  int64_t id_ = 0;
};

/// Code that nodes run on inputs, again and again. Used by one thread, but for what any may call.
/// Only block() and for_each_finished() wait for a coordinator that begins again; the others and
/// the constructor throw AuthorLost when it cannot be reached, and may be called again.
class Task {
 public:
  /// Verification::adaptive is of pools in the process only.
  Task(Project& project, const TaskSpec& spec);
  /// What is not done is cancelled.
  ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  /// A ticket for each input; a text is one of its bytes. Returns the first one's number; the
  /// others follow. After block() or for_each_finished() another iteration begins: numbers are from
  /// 0 again, and the coordinator forgets the tickets before. After an exception there are none of
  /// these inputs, and numbers go on as if they had not been given; what nodes do of them all the
  /// same is nobody's.
  size_t calculate(std::span<const TicketSpec> inputs);
  size_t calculate(std::span<const std::string> inputs);

  /// Gives each result as it comes, in any order, until all inputs have ended; `take` may calculate
  /// more. Then throws Error, with reasons, if nodes could not do some; at once when the task is
  /// cancelled, or AuthorLost when it has tried in vain for a minute (WireOptions::silence) to hear
  /// of more. Can be called again for what is left, also after what `take` threw.
  void for_each_finished(const std::function<void(size_t input, ByteVector result)>& take);
  /// for_each_finished() into a list: results by number.
  std::vector<ByteVector> block();

  // From any thread.
  /// For good: block() and for_each_finished() throw.
  void cancel();
  void set_priority(int priority);
  /// Of the tickets that the coordinator has not forgotten.
  Progress progress();

 private:
  using Take = std::function<void(size_t input, ByteVector result)>;
  std::string path() const { return "/api/tasks/" + std::to_string(id_); }
  size_t add(std::span<const TicketSpec> inputs);
  bool is_open();
  void follow(const Take& take);
  bool take_line(std::string_view line, const Take& take);
  bool has_patience(const char* why);
  void expect_no_dead();

  Project& project_;
  HttpClient lines_;  // of results
  const TaskId id_;
  std::atomic<bool> cancelled_ = false;
  size_t count_ = 0;                 // of inputs
  bool through_ = false;             // with all of them
  bool strays_ = false;              // inputs that an exception left may be at the coordinator
  int64_t after_ = 0;                // the sequence of the last result
  std::map<TicketId, size_t> open_;  // inputs that have not ended
  std::map<TicketId, size_t> dead_;  // whose reasons nobody was told
  /// Since when it tries in vain to hear of more.
  std::optional<std::chrono::steady_clock::time_point> lost_;
  /// Where an error comes from.
  enum class At : uint8_t { stream, line, take } at_ = At::stream;
};

}  // namespace kaiseki::dist
