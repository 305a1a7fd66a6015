// SPDX-License-Identifier: MIT
// RemoteAuthor: the author's side of a pool behind a remote coordinator (docs/openapi.yaml).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "dist/net/api_client.h"
#include "dist/net/author.h"
#include "dist/net/curves.h"
#include "dist/net/result_follower.h"

namespace kaiseki::dist {

class RemoteAuthor final : public Author {
 public:
  /// `post` runs a call on this author's thread, and may be called from any thread. `finished` is
  /// called on the author's thread for each ended ticket. Throws Error if the coordinator does
  /// not answer, and WrongToken if it rejects the token.
  RemoteAuthor(const WireOptions& to, AuthorWork work,
               std::function<void(std::function<void()>)> post,
               std::function<void(const Finished&)> finished);

  bool ready() override;
  void batch(const std::function<void()>& calls) override { calls(); }
  std::vector<NodeStatus> nodes() override;
  void expel(const NodeId& node, const ExpulsionReason& reason) override;
  void put_blob(const BlobHash& hash, ByteView bytes) override;
  void release_blob(const BlobHash& hash) override { discarded_.push_back(hash); }
  BlobHash store(ByteView bytes) override;
  TicketId add_tickets(std::span<const TicketSpec> tickets, uint64_t memory_bytes) override;
  TaskState state() override { return state_; }
  void forget(TicketId through) override;
  void abandon(TicketId through) override;
  ByteVector result(const Finished& finished) override { return finished.result; }
  void sweep() override;

  /// Sends a point for the coordinator's console. Ignores errors.
  void report(const CurvePoint& point);
  /// Deletes this run's projects, if the coordinator answers.
  void leave();

 private:
  int64_t make_project(const std::string& what);
  void reconnect();
  void update_state();
  void renew();
  void send_curve();
  void post_curve(const Json& body);
  void send_expulsions();
  template <class Call>
  auto call(Call call);
  Json ask(const std::string& method, const std::string& path, const Json& body = {});
  int64_t make(const std::string& path, const Json& body, const char* what);
  void upload(const std::string& path, ByteView bytes);
  [[noreturn]] void lose(const Message& why);
  void discard_ticket_blobs();

  const std::string name_;  // of the coordinator, for messages
  const AuthorWork work_;
  const std::string project_name_;  // unique to this run
  ApiClient client_;
  const std::function<void(std::function<void()>)> post_;
  const std::function<void(const Finished&)> finished_;

  std::vector<NodeStatus> nodes_;
  std::optional<double> asked_;    // the time of nodes_, unless they are out of date
  std::optional<double> renewed_;  // when the projects were last renewed
  double retry_ = 0;               // when the next attempt may begin, if there is a wait_
  std::optional<double> wait_;     // after AuthorLost, until tickets are added
  bool must_reconnect_ = false;    // after AuthorLost: the coordinator's state is unknown
  TaskState state_ = TaskState::running;
  std::optional<ProjectId> blob_project_, project_;  // of the blobs, and of the task
  std::optional<TaskId> task_;
  std::optional<TicketId> through_;     // the last ticket that can be deleted
  int64_t era_ = 0;                     // number of tasks so far
  std::vector<BlobHash> ticket_blobs_;  // blobs of tickets and results that are not forgotten yet
  std::vector<BlobHash> discarded_;     // blobs that the next sweep() deletes
  std::vector<std::pair<NodeId, ExpulsionReason>> expelled_;
  Curves curve_;  // all points; if the coordinator has lost them, they are sent again
  ResultFollower follower_;
};

}  // namespace kaiseki::dist
