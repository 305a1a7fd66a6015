// SPDX-License-Identifier: MIT
// RemoteAuthor: the author's side of a pool whose coordinator runs elsewhere (docs/openapi.yaml).
#pragma once

#include <string>
#include <vector>

#include "dist/net/author.h"
#include "dist/net/curves.h"
#include "dist/net/http_client.h"
#include "dist/net/result_follower.h"
#include "nn/json.h"

namespace kaiseki::dist {

class RemoteAuthor final : public Author {
 public:
  /// `post` runs a call on this author's thread, from any; `finished` gets what ended, there.
  /// Without `public_data` only trusted nodes are there for it. Throws Error when the coordinator
  /// does not answer, or wants another token.
  RemoteAuthor(const WireOptions& to, bool public_data,
               std::function<void(std::function<void()>)> post,
               std::function<void(const Finished&)> finished);

  bool ready() override;
  void batch(const std::function<void()>& calls) override { calls(); }
  std::vector<NodeStatus> nodes() override;
  void expel(const NodeId& node, const std::string& reason) override;
  void put_blob(const BlobHash& hash, ByteView bytes) override;
  void release_blob(const BlobHash& hash) override { discarded_.push_back(hash); }
  BlobHash store(ByteView bytes) override;
  TicketId add_tickets(std::span<const TicketSpec> tickets) override;
  TaskState state() override { return state_; }
  void forget(TicketId through) override;
  void abandon(TicketId through) override;
  ByteVector result(const Finished& finished) override { return finished.result; }
  void sweep() override;

  /// For the coordinator's console; what does not get there is no loss.
  void report(const CurvePoint& point);
  /// The end: what was made there goes, if the coordinator answers.
  void leave();

 private:
  int64_t make_project(const std::string& what);
  void come_back();
  void look_at_task();
  void tell_curve();
  void post_curve(const nn::Json& body);
  void put_out();
  nn::Json ask(const std::string& method, const std::string& path, ByteView body = {});
  nn::Json ask(const std::string& method, const std::string& path, const nn::Json& body);
  int64_t make(const std::string& path, const nn::Json& body, const char* what);
  [[noreturn]] void lose(const std::string& why);
  void discard_loose();

  const std::string name_;          // of the coordinator
  const std::string project_name_;  // of this run alone
  const bool public_data_;
  HttpClient client_;
  const std::function<void(std::function<void()>)> post_;
  const std::function<void(const Finished&)> finished_;

  std::vector<NodeStatus> nodes_;
  double asked_ = 0;             // when nodes_ came
  double retry_ = 0, wait_ = 0;  // after AuthorLost; a wait of 0: tickets went through
  bool left_behind_ = false;     // what is there since AuthorLost is not known
  TaskState state_ = TaskState::running;
  int64_t kept_ = 0, project_ = 0;   // of blobs, of the task; 0: none yet
  int64_t task_ = 0, through_ = 0;   // and up to where its tickets can go
  int64_t era_ = 0;                  // tasks so far
  std::vector<BlobHash> loose_;      // of tickets and results, until these are forgotten
  std::vector<BlobHash> discarded_;  // until the next sweep
  std::vector<std::pair<NodeId, std::string>> expelled_;
  Curves curve_;  // as it was told, for a coordinator that has forgotten it
  ResultFollower follower_;
};

}  // namespace kaiseki::dist
