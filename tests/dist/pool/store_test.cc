// SPDX-License-Identifier: MIT
// The conformance tests of Store. A new store is one line in kStores.
#include "dist/pool/store.h"

#include <algorithm>
#include <chrono>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// Each call opens the same store again.
using Opener = std::function<std::unique_ptr<Store>()>;
struct Kind {
  const char* name;
  std::function<Opener(const Folder&)> in;
};

const Kind kStores[] = {{"sqlite", [](const Folder& folder) -> Opener {
                           return [file = folder / "pool.db"] { return open_sqlite_store(file); };
                         }}};

/// Runs a test on every kind of store.
void on_each(const std::function<void(Opener)>& test) {
  for (const Kind& kind : kStores) {
    INFO(kind.name);
    Folder folder;
    test(kind.in(folder));
  }
}

struct Open {
  explicit Open(const Opener& opener) : store(opener()) {
    write([&] {
      project = store->add_project("project", 2.5);
      task = store->add_task(project, {.name = "task", .function = "f"});
    });
  }
  void write(const std::function<void()>& calls) {
    store->begin();
    calls();
    store->commit(true);
  }
  TicketId add(int count) {
    std::vector<TicketSpec> specs(static_cast<size_t>(count));
    TicketId first = 0;
    write([&] { first = store->add_tickets(task, specs); });
    return first;
  }
  bool lease(TicketId ticket, int64_t epoch, const NodeId& node = "node") {
    bool done = false;
    write([&] { done = store->add_lease({ticket, epoch, node, 10, 20, 1}); });
    return done;
  }
  std::optional<int64_t> finish(TicketId ticket, bool dead = false) {
    std::optional<int64_t> sequence;
    write([&] {
      sequence = store->finish({.task = task,
                                .ticket = ticket,
                                .dead = dead,
                                .node = "node",
                                .result = bytes("result")});
    });
    return sequence;
  }
  TicketState state(TicketId ticket) { return store->ticket(ticket)->state; }

  std::unique_ptr<Store> store;
  ProjectId project = 0;
  TaskId task = 0;
};

}  // namespace

TEST_CASE("store: all rows are there when it is opened again") {
  on_each([](const Opener& opener) {
    ProjectId project = 0;
    TaskId task = 0;
    TicketId first = 0;
    const TaskSpec spec{"näme", "function", std::string(64, 'a'), -3, Verification::quorum, 4,
                        9,      false};
    {
      auto store = opener();
      store->begin();
      store->set_setting("key", "one");
      store->set_setting("key", "two");
      project = store->add_project("project", 2.5);
      task = store->add_task(project, spec);
      const std::vector<TicketSpec> tickets = {
          {bytes(std::string("in\0put", 6)), {std::string(64, 'b'), std::string(64, 'c')}, 77, 0.5},
          {}};
      first = store->add_tickets(task, tickets);
      CHECK(store->add_lease({first, 1, "node", 1.25, 2.5, 3}));
      CHECK(store->set_failures(first, 2, 8.5));
      CHECK(store->add_vote({first, "voter", "hash"}));
      CHECK(store->finish({.task = task,
                           .ticket = first + 1,
                           .checked = true,
                           .node = "n",
                           .result = bytes("r"),
                           .blob = std::string(64, 'd')}));
      store->add_error(task, {first, "node", 3.5, "text"});
      store->put_node({"id", "name", "device", 1, 2, 3, 4.5, 5.5, "why"});
      store->commit(true);
    }
    auto store = opener();
    CHECK(store->setting("key") == "two");
    CHECK(store->setting("other").empty());
    REQUIRE(store->projects().size() == 1);
    CHECK(store->projects()[0].name == "project");
    CHECK(store->projects()[0].weight == 2.5);
    REQUIRE(store->tasks().size() == 1);
    const TaskStatus status = store->tasks()[0];
    CHECK(status.id == task);
    CHECK(status.project == project);
    CHECK(status.spec.name == spec.name);
    CHECK(status.spec.function == spec.function);
    CHECK(status.spec.module == spec.module);
    CHECK(status.spec.priority == spec.priority);
    CHECK(status.spec.verification == spec.verification);
    CHECK(status.spec.quorum == spec.quorum);
    CHECK(status.spec.max_attempts == spec.max_attempts);
    CHECK(status.spec.public_data == spec.public_data);
    CHECK(status.spec.memory_bytes == spec.memory_bytes);
    const auto row = store->ticket(first);
    REQUIRE(row);
    CHECK(row->epoch == 1);
    CHECK(row->failures == 2);
    CHECK(row->not_before == 8.5);
    CHECK(row->max_result_bytes == 77);
    CHECK(row->work == 0.5);
    const TicketInput input = store->input(first);
    CHECK(text(input.input) == std::string("in\0put", 6));
    CHECK(input.blobs == std::vector{std::string(64, 'b'), std::string(64, 'c')});
    REQUIRE(store->leases().size() == 1);
    const LeaseRow lease = store->leases()[0];
    CHECK(lease.node == "node");
    CHECK(lease.issued == 1.25);
    CHECK(lease.deadline == 2.5);
    CHECK(lease.round == 3);
    REQUIRE(store->votes(first).size() == 1);
    CHECK(store->votes(first)[0].hash == "hash");
    REQUIRE(store->finished(task, 0, 10).size() == 1);
    const Finished finished = store->finished(task, 0, 10)[0];
    CHECK(finished.ticket == first + 1);
    CHECK(finished.checked);
    CHECK(!finished.dead);
    CHECK(text(finished.result) == "r");
    CHECK(finished.blob == std::string(64, 'd'));
    REQUIRE(store->errors(task, 10).size() == 1);
    CHECK(store->errors(task, 10)[0].text == "text");
    REQUIRE(store->node("id"));
    const NodeRow node = *store->node("id");
    CHECK(node.device == "device");
    CHECK(node.accepted == 1);
    CHECK(node.failed == 2);
    CHECK(node.consecutive_valid == 3);
    CHECK(node.recent_failures == 4.5);
    CHECK(node.last_seen == 5.5);
    CHECK(node.expelled == "why");
  });
}

TEST_CASE("store: a rollback undoes all changes") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId first = open.add(2);
    open.store->begin();
    open.store->add_lease({first, 1, "node", 1, 2, 1});
    open.store->finish({.task = open.task, .ticket = first + 1});
    open.store->rollback();
    CHECK(open.store->leases().empty());
    CHECK(open.state(first + 1) == TicketState::open);
    CHECK(open.store->ticket(first)->epoch == 0);
    open.store->rollback();  // without one open: nothing happens
    open.store->begin();
    open.store->finish({.task = open.task, .ticket = first});
    open.store = nullptr;  // as when the process ends
    open.store = opener();
    CHECK(open.state(first) == TicketState::open);
  });
}

TEST_CASE("store: of several leases with one epoch only the first is added") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId ticket = open.add(1);
    CHECK(!open.lease(ticket, 0));
    CHECK(!open.lease(ticket, 2));
    CHECK(open.lease(ticket, 1, "a"));
    CHECK(!open.lease(ticket, 1, "b"));
    CHECK(open.lease(ticket, 2, "b"));
    CHECK(open.store->leases().size() == 2);
    CHECK(open.store->end_lease(ticket, 1));
    CHECK(!open.store->end_lease(ticket, 1));
    CHECK(open.store->leases()[0].node == "b");
    CHECK(!open.lease(ticket + 1, 1));  // no such ticket
  });
}

TEST_CASE("store: a ticket ends once, and takes no further step") {
  on_each([](const Opener& opener) {
    for (const bool dead : {false, true}) {
      Open open(opener);
      const TicketId ticket = open.add(1);
      CHECK(open.lease(ticket, 1));
      open.store->add_vote({ticket, "voter", "hash"});
      CHECK(open.store->add_failure({ticket, "failed", "192.0.2.1"}));
      CHECK(open.finish(ticket, dead));
      CHECK(open.state(ticket) == (dead ? TicketState::dead : TicketState::done));
      CHECK(!open.finish(ticket, false));
      CHECK(!open.finish(ticket, true));
      CHECK(open.state(ticket) == (dead ? TicketState::dead : TicketState::done));
      CHECK(open.store->finished(open.task, 0, 10).size() == 1);
      CHECK(open.store->leases().empty());
      CHECK(open.store->votes(ticket).empty());
      CHECK(open.store->failures().empty());
      CHECK(!open.store->add_failure({ticket, "failed", ""}));
      CHECK(!open.lease(ticket, 2));
      CHECK(!open.store->set_failures(ticket, 1, 0));
      CHECK(!open.store->add_vote({ticket, "another", "hash"}));
    }
  });
}

TEST_CASE("store: one vote a node") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId ticket = open.add(2);
    CHECK(open.store->add_vote({ticket, "a", "1"}));
    CHECK(!open.store->add_vote({ticket, "a", "2"}));
    CHECK(open.store->add_vote({ticket, "b", "2"}));
    CHECK(open.store->add_vote({ticket + 1, "a", "1"}));
    CHECK(open.store->votes(ticket).size() == 2);
    CHECK(!open.store->add_vote({ticket + 2, "a", "1"}));  // no such ticket
  });
}

TEST_CASE("store: a node's votes are deleted, those of others stay") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId ticket = open.add(3);
    for (const TicketId one : {ticket, ticket + 2}) CHECK(open.store->add_vote({one, "a", "1"}));
    CHECK(open.store->add_vote({ticket, "b", "1"}));
    CHECK(open.store->drop_votes("a") == std::vector{ticket, ticket + 2});
    REQUIRE(open.store->votes(ticket).size() == 1);
    CHECK(open.store->votes(ticket)[0].node == "b");
    CHECK(open.store->votes(ticket + 2).empty());
    CHECK(open.store->drop_votes("a").empty());
    CHECK(open.store->add_vote({ticket, "a", "2"}));
  });
}

TEST_CASE("store: one failure for each node and open ticket") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId ticket = open.add(3);
    CHECK(open.store->add_failure({ticket + 1, "b", "192.0.2.1"}));
    CHECK(open.store->add_failure({ticket, "b", ""}));
    CHECK(!open.store->add_failure({ticket, "b", "192.0.2.1"}));
    CHECK(open.store->add_failure({ticket, "a", "192.0.2.2"}));
    CHECK(!open.store->add_failure({ticket + 3, "a", ""}));  // no such ticket
    open.store = nullptr;
    open.store = opener();
    const auto failures = open.store->failures();
    REQUIRE(failures.size() == 3);
    CHECK(failures[0].ticket == ticket);
    CHECK(failures[0].node == "a");
    CHECK(failures[0].source == "192.0.2.2");
    CHECK(failures[1].node == "b");
    CHECK(failures[2].ticket == ticket + 1);
    open.write([&] { open.store->abandon(open.task, ticket); });
    CHECK(open.store->failures().size() == 1);
    open.write([&] { open.store->remove_project(open.project); });
    CHECK(open.store->failures().empty());
  });
}

TEST_CASE("store: nodes seen since a time, the latest first") {
  on_each([](const Opener& opener) {
    Open open(opener);
    for (const double seen : {10, 40, 20, 30}) {
      NodeRow row;
      row.id = std::to_string(static_cast<int>(seen)), row.name = "name", row.last_seen = seen;
      row.expelled = seen == 30 ? "why" : "";
      open.store->put_node(row);
    }
    const auto nodes = open.store->nodes(10, 2);
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[0].id == "40");
    CHECK(nodes[0].name == "name");
    CHECK(nodes[1].id == "30");
    CHECK(nodes[1].expelled == "why");
    CHECK(open.store->nodes(10, 9).size() == 3);
    CHECK(open.store->nodes(40, 9).empty());
  });
}

TEST_CASE("store: fresh and touched tickets are all open ones, each once") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId first = open.add(6);
    open.lease(first + 1, 1);
    open.lease(first + 2, 1);
    open.store->end_lease(first + 2, 1);
    open.finish(first + 3);
    const auto ids = [](const std::vector<TicketRow>& rows) {
      std::vector<TicketId> found;
      for (const TicketRow& row : rows) found.push_back(row.id);
      return found;
    };
    CHECK(ids(open.store->fresh(open.task, 0, 10)) == std::vector{first, first + 4, first + 5});
    CHECK(ids(open.store->fresh(open.task, first, 1)) == std::vector{first + 4});
    CHECK(open.store->fresh(open.task + 1, 0, 10).empty());
    CHECK(ids(open.store->touched()) == std::vector{first + 1, first + 2});
    CHECK(open.store->count(open.task, TicketState::open) == 5);
    CHECK(open.store->count(open.task, TicketState::done) == 1);
    CHECK(open.store->count(open.task, TicketState::dead) == 0);
  });
}

TEST_CASE("store: results by ticket and by sequence") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId first = open.add(4);
    std::vector<int64_t> sequences;
    for (int offset : {2, 0, 3, 1}) sequences.push_back(*open.finish(first + offset));
    CHECK(std::ranges::is_sorted(sequences));
    const auto by_ticket = open.store->finished(open.task, first, 2);
    REQUIRE(by_ticket.size() == 2);
    CHECK(by_ticket[0].ticket == first + 1);
    CHECK(by_ticket[1].ticket == first + 2);
    const auto by_sequence = open.store->ended(open.task, sequences[0], 2);
    REQUIRE(by_sequence.size() == 2);
    CHECK(by_sequence[0].ticket == first);
    CHECK(by_sequence[1].ticket == first + 3);
    CHECK(by_sequence[0].sequence == sequences[1]);
  });
}

TEST_CASE("store: dropped tickets are deleted, open ones stay, no id is used again") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId first = open.add(4);
    for (int offset : {0, 1, 3}) open.finish(first + offset, offset == 1);
    open.store->add_error(open.task, {first + 1, "node", 1, "dropped"});
    open.store->add_error(open.task, {first + 2, "node", 1, "open"});
    open.store->add_error(open.task, {first + 3, "node", 1, "later"});
    const int64_t last = open.store->ended(open.task, 0, 10).back().sequence;
    open.write([&] { open.store->drop(open.task, first + 2); });
    CHECK(!open.store->ticket(first));
    CHECK(!open.store->ticket(first + 1));
    CHECK(open.store->ticket(first + 2));
    CHECK(open.store->input(first + 2).blobs.empty());
    CHECK(error_of([&] { open.store->input(first); }) != "");
    CHECK(open.store->finished(open.task, 0, 10).size() == 1);
    CHECK(open.store->errors(open.task, 10).size() == 2);
    CHECK(open.store->errors(open.task, 1)[0].text == "later");
    open.write([&] { open.store->drop(open.task, first + 3); });
    CHECK(open.add(1) > first + 3);
    CHECK(*open.finish(first + 2) > last);
    const TaskId task = open.task;
    open.write([&] { open.store->remove_project(open.project); });
    CHECK(open.store->tasks().empty());
    CHECK(open.store->finished(task, 0, 10).empty());
    CHECK(open.store->errors(task, 10).empty());
    CHECK(!open.store->ticket(first + 4));
    open.write([&] { CHECK(open.store->add_project("again", 1) > open.project); });
  });
}

TEST_CASE(
    "store: open tickets that are abandoned are gone with their leases, those that ended stay") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId first = open.add(4);
    open.finish(first + 1, false);
    open.write([&] {
      CHECK(open.store->add_lease({first, 1, "node", 1, 2, 1}));
      CHECK(open.store->add_vote({first, "node", "hash"}));
    });
    open.store->add_error(open.task, {first, "node", 1, "open"});
    open.store->add_error(open.task, {first + 1, "node", 1, "done"});
    open.write([&] { open.store->abandon(open.task, first + 2); });
    CHECK(!open.store->ticket(first));
    CHECK(open.store->ticket(first + 1));
    CHECK(!open.store->ticket(first + 2));
    CHECK(open.store->ticket(first + 3));
    CHECK(open.store->leases().empty());
    CHECK(open.store->votes(first).empty());
    CHECK(error_of([&] { open.store->input(first); }) != "");
    REQUIRE(open.store->errors(open.task, 10).size() == 1);
    CHECK(open.store->errors(open.task, 10)[0].text == "done");
    CHECK(open.store->count(open.task, TicketState::open) == 1);
    CHECK(open.add(1) > first + 3);
  });
}

TEST_CASE("store: each blob with a reference is listed") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const auto hash = [](char digit) { return std::string(64, digit); };
    const auto used = [&] {
      std::string digits;
      open.store->each_blob([&](const BlobHash& blob) { digits += blob[0]; });
      std::ranges::sort(digits);
      for (const char digit : {'a', 'b', 'c', 'd', 'e', 'f'})
        CHECK(open.store->names_blob(hash(digit)) == (digits.find(digit) != digits.npos));
      return digits;
    };
    TicketId ticket = 0;
    open.write([&] {
      open.store->keep_blob(open.project, hash('a'));
      open.store->keep_blob(open.project, hash('a'));
      open.store->add_task(open.project, {.name = "module", .module = hash('b')});
      const std::vector<TicketSpec> tickets = {{{}, {hash('c'), hash('d')}}};
      ticket = open.store->add_tickets(open.task, tickets);
      open.store->finish({.task = open.task, .ticket = ticket, .blob = hash('e')});
    });
    CHECK(used() == "abcde");
    open.write([&] { open.store->release_blob(open.project, hash('a')); });
    CHECK(used() == "bcde");
    open.write([&] { open.store->drop(open.task, ticket); });
    CHECK(used() == "b");
    open.write([&] { open.store->remove_project(open.project); });
    CHECK(used().empty());
  });
}

TEST_CASE("store: names_blob() does not scan all tickets") {
  on_each([](const Opener& opener) {
    constexpr int kTickets = 20000;
    Open open(opener);
    const auto hash = [](int number) {
      const std::string digits = std::to_string(number);
      return std::string(64 - digits.size(), '0') + digits;
    };
    std::vector<TicketSpec> tickets;
    for (int i = 0; i < kTickets; ++i) tickets.push_back({.blobs = {hash(i)}});
    open.write([&] {
      const TicketId first = open.store->add_tickets(open.task, tickets);
      for (int i = 0; i < kTickets; ++i)
        open.store->finish({.task = open.task, .ticket = first + i, .blob = hash(kTickets + i)});
    });
    const auto seconds = [](const auto& call) {
      const auto start = std::chrono::steady_clock::now();
      call();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    int seen = 0, named = 0;
    const double walk = seconds([&] { open.store->each_blob([&](const BlobHash&) { ++seen; }); });
    const double queries = seconds([&] {
      for (int i = 0; i < 400; ++i) named += open.store->names_blob(hash(2 * kTickets - 200 + i));
    });
    CHECK(seen == 2 * kTickets);
    CHECK(named == 200);
    CHECK(queries < 10 * walk);  // if each scanned all tickets: 400 times
  });
}

TEST_CASE("store: a task's state and a project's weight change") {
  on_each([](const Opener& opener) {
    Open open(opener);
    open.write([&] {
      open.store->set_task(open.task, TaskState::paused, 7);
      open.store->set_weight(open.project, 0.25);
      open.store->put_node({.id = "n", .accepted = 1});
      open.store->put_node({.id = "n", .accepted = 2});
    });
    CHECK(open.store->tasks()[0].state == TaskState::paused);
    CHECK(open.store->tasks()[0].spec.priority == 7);
    CHECK(open.store->projects()[0].weight == 0.25);
    CHECK(open.store->node("n")->accepted == 2);
    CHECK(!open.store->node("m"));
  });
}

TEST_CASE("store: nodes that were away are dropped, not those with a lease or a vote") {
  on_each([](const Opener& opener) {
    Open open(opener);
    const TicketId ticket = open.add(2);
    open.write([&] {
      for (const char* id : {"a", "b", "leaseholder", "voter", "young"}) {
        NodeRow row;
        row.id = id, row.last_seen = row.id == "young" ? 100 : 10, row.accepted = row.id == "b";
        open.store->put_node(row);
      }
      CHECK(open.store->add_lease({ticket, 1, "leaseholder", 0, 1, 1}));
      CHECK(open.store->add_vote({ticket + 1, "voter", "hash"}));
      CHECK(open.store->drop_nodes(50, 5) == 1);
      CHECK(!open.store->node("a"));
      CHECK(open.store->drop_nodes(50, 50) == 1);
      CHECK(!open.store->node("b"));
    });
    for (const char* id : {"leaseholder", "voter", "young"}) CHECK(open.store->node(id));
  });
}
