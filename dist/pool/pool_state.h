// SPDX-License-Identifier: MIT
// What the pool holds in memory: an index over the store's open tickets, and what only matters
// while the process lives (speeds, fairness). It can be read from the store again at any time.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "dist/pool/blobs.h"
#include "dist/pool/pace.h"
#include "dist/pool/pool.h"
#include "dist/pool/store.h"
#include "dist/pool/token.h"

namespace kaiseki::dist {

inline constexpr int64_t kTrustedAfter = 10;       // valid results, before which all are checked
inline constexpr int64_t kFailuresInARow = 10;     // from then on one ticket a minute
inline constexpr double kProbation = 60;           // seconds
inline constexpr double kTokenLife = 86400;        // seconds
inline constexpr double kLongestLease = 86400;     // seconds
inline constexpr double kLongestGuess = 3600;      // seconds: then a lease is not extended blindly
inline constexpr size_t kMostFirst = 16;           // first leases of a ticket, the newest
inline constexpr uint64_t kMostInline = 16 << 10;  // larger results are blobs

inline constexpr std::string_view kNoVerify =
    "expected PoolOptions::verify to be set for a task with adaptive verification, got none";

struct TaskEntry;

struct OpenTicket {
  TicketRow row;
  TaskEntry* task = nullptr;
  std::vector<LeaseRow> leases;
  std::vector<VoteRow> votes;
  std::vector<FailureRow> failures;
  double given = 0;                  // when it was last given out
  std::map<NodeId, LeaseRow> first;  // lease of each node that may have begun with it
  bool old = false;                  // others may have, before it was read from the store

  /// Which of its task's sets the ticket is in.
  enum class Place : uint8_t { nowhere, ready, waiting, outstanding };
  Place place = Place::nowhere;
  double key = 0;       // in that set
  bool leased = false;  // as Progress counts it

  const LeaseRow* lease_of(const NodeId& node) const;
  /// A node of this source has.
  bool voted(const NodeId& node, const std::string& source) const;
  bool failed(const NodeId& node, const std::string& source) const;
  /// The most votes that agree.
  int64_t agreed() const;
};

/// Who could do a task's tickets.
struct Crowd {
  uint64_t of = 0;  // Pool::Impl::comings when it was counted
  size_t nodes = 0, sources = 0;
};

struct Preference {
  NodeId node;
  double kept_until;  // for it, if it is idle
};

struct TaskEntry {
  TaskStatus status;
  Progress progress;
  Pace pace;
  std::set<TicketId> ready;                           // may be given out now
  std::set<std::pair<double, TicketId>> waiting;      // not before
  std::set<std::pair<double, TicketId>> outstanding;  // by when they were last given out
  TicketId loaded_to = 0;  // tickets above are in the store only, never given out
  bool all_loaded = false;
  // Tickets that are open and whom they prefer; a hint, which a restart forgets.
  std::map<TicketId, Preference> preferred;
  std::set<std::pair<NodeId, TicketId>> by_preference;
  mutable Crowd crowd;
};

struct ProjectEntry {
  ProjectStatus status;
  double served = 0;          // work given to it, over its weight
  std::vector<TaskId> tasks;  // by priority
};

struct NodeEntry {
  NodeRow row;
  NodeInfo info;
  bool connected = false;
  bool changed = false;  // since the last commit
  Speed speed;
  double last_lease = 0;
  double asked = -1e9;                            // for tickets, the last time
  std::set<std::pair<TicketId, int64_t>> leases;  // and their epochs
  std::map<TaskId, TicketId> next;  // of quorum tasks: tickets before are likely its own
};

struct Pool::Impl {
  Impl(Store& store, BlobStore& blobs, PoolOptions options);

  Store& store;
  BlobStore& blobs;
  PoolOptions options;
  std::string key;  // of tokens and of the choice of what is checked
  std::map<ProjectId, ProjectEntry> projects;
  std::map<TaskId, TaskEntry> tasks;
  std::unordered_map<TicketId, OpenTicket> tickets;  // open ones, as far as they are loaded
  std::map<NodeId, NodeEntry> nodes;                 // connected ones, and those being changed
  uint64_t comings = 1;                              // and goings of nodes
  std::set<std::tuple<double, TicketId, int64_t>> deadlines;
  std::vector<NodeEntry*> changed;
  double served = 0;  // ProjectEntry::served of the project that was served last
  std::map<std::string, uint64_t> counters;

  bool loaded = false;
  bool open = false, durable = false, broken = false;  // the transaction
  std::vector<Finished> ended;
  std::vector<TicketId> not_wanted;  // for on_unwanted
  std::vector<Expulsion> put_out;
  std::vector<TaskId> changed_tasks;  // for on_task
  bool work = false, reporting = false;
  std::deque<std::function<void()>> reports;
  std::set<BlobHash> unwanted;  // but too young to go
  double next_discard = 0;

  double now() const { return options.clock(); }

  // pool_state.cc: the store and back
  void load();
  /// Those of nodes that were connected to the process before.
  void end_old_leases();
  void commit();
  void undo() noexcept;
  /// Calls options.on_finished and the like for what was committed.
  void report();

  // pool_state.cc: finding
  ProjectEntry& project(ProjectId id, std::string_view operation);
  TaskEntry& task(TaskId id, std::string_view operation);
  NodeEntry& node(const NodeId& id, std::string_view operation);
  /// Nothing unless the ticket is open.
  OpenTicket* ticket(TicketId id);
  OpenTicket& add(const TicketRow& row);
  /// The commit writes its row.
  void change(NodeEntry& node);
  void sort_tasks(ProjectEntry& project);

  // ticket_steps.cc: steps of a ticket, within a transaction
  /// How many more leases a ticket could do with.
  int64_t wanted(const OpenTicket& ticket) const;
  /// Puts the ticket where it belongs after a change.
  void place(OpenTicket& ticket);
  /// Takes it out of memory.
  void forget(OpenTicket& ticket);
  LeaseRow end_lease(OpenTicket& ticket, const NodeId& node, int64_t epoch);
  /// An attempt, whose lease has ended, failed: by its deadline (`late`), or it is not tried again
  /// at once. Who has no token could fail on purpose: that counts once for each source, and again
  /// only when all others have failed, too.
  void fail(OpenTicket& ticket, const NodeId& node, const std::string& text, bool late);
  /// After a lease ended: dead if there is nothing left to try, else where it belongs.
  void settle(OpenTicket& ticket);
  /// Done or dead.
  void finish(OpenTicket& ticket, Finished finished);
  /// This says nothing about the tickets.
  void end_all_leases(NodeEntry& node);
  /// Those that others still have to agree with.
  void drop_votes(const NodeEntry& node);
  void expel(NodeEntry& node, const std::string& reason, const std::string& by);

  // pool.cc
  int64_t discard_unwanted();

  // nodes.cc
  /// Those of a connection that has ended.
  void lose_leases(NodeEntry& node);

  // waits.cc
  const Crowd& crowd(const TaskEntry& task) const;
  std::string waits(const TaskEntry& task) const;

  // lease.cc
  bool may_hold(const NodeEntry& node) const;
  /// It holds as many of the task's function as PoolOptions::most_held lets it.
  bool has_enough(const TaskEntry& task, const NodeEntry& node) const;
  /// Whether the node could do tickets of the task, if there were any.
  bool is_able(const TaskSpec& spec, const NodeEntry& node) const;
  bool suits(const TaskEntry& task, const NodeEntry& node) const;
  /// The node, or another of its source, has its part in the ticket.
  bool has_part(const OpenTicket& ticket, const NodeEntry& node) const;
  /// Another of those that are at work, or ask for some, could do it and has not failed at it.
  bool others_could(const OpenTicket& ticket, const NodeEntry& besides) const;
  /// Nothing keeps the node from the ticket.
  bool may_have(const OpenTicket& ticket, const NodeEntry& node) const;
  OpenTicket* pick(NodeEntry& node);
  /// Free tickets for a node, and whether another node without any could take the last of them.
  int64_t free_for(const NodeEntry& node) const;
  bool idle_could_take(int64_t free, const NodeEntry& besides) const;
  OpenTicket* ready_ticket(TaskEntry& task, NodeEntry& node);
  bool kept_for_another(const TaskEntry& task, TicketId ticket, const NodeEntry& node) const;
  OpenTicket* preferred_ticket(TaskEntry& task, NodeEntry& node);
  OpenTicket* outstanding_ticket(TaskEntry& task, NodeEntry& node);
  /// All who have it may hang, or it takes long: nothing is measured. One more gets it, after a
  /// time that doubles each time.
  bool may_hang(const OpenTicket& ticket) const;
  void load_fresh(TaskEntry& task);
  double typical(const OpenTicket& ticket, const NodeEntry& node) const;
  double late(const OpenTicket& ticket, const NodeEntry& node) const;
  /// Seconds that it may take a node.
  double limit(const OpenTicket& ticket, const NodeEntry& node, int64_t round) const;
  Lease give(OpenTicket& ticket, NodeEntry& node);
  /// Its deadline has passed, but by what is known now it was too early: it gets a later one. While
  /// nothing is measured it doubles, up to kLongestGuess.
  bool extend(LeaseRow& lease, const OpenTicket& ticket);

  // accept.cc
  std::optional<Answer> refusal(const NodeEntry& node, const std::optional<Token>& token);
  bool to_check(const OpenTicket& ticket, const NodeEntry& node, const Token& token) const;
  bool is_right(const OpenTicket& ticket, ByteView result) const;
  void learn(const OpenTicket& ticket, NodeEntry& node, const Token& token);
  Answer take(OpenTicket& ticket, NodeEntry& node, ByteView result, bool checked);
  Answer take_or_vote(OpenTicket& ticket, NodeEntry& node, ByteView result, bool checked);
  Answer vote(OpenTicket& ticket, NodeEntry& node, ByteView result);
  void judge_voters(const OpenTicket& ticket, const std::string& hash);
  Answer count(Outcome outcome, std::string_view counter, std::string reason = {});
};

/// A change of several steps: its own transaction, or part of the one that is open. Without done()
/// all of it is undone.
class PoolChange {
 public:
  PoolChange(Pool::Impl& pool, bool durable);
  ~PoolChange();
  void done();

 private:
  void expect_whole() const;

  Pool::Impl& pool_;
  const bool own_;
  bool done_ = false;
};

}  // namespace kaiseki::dist
