// SPDX-License-Identifier: MIT
// The coordinator and several nodes.
#include <algorithm>

#include "dist/net/author.h"
#include "dist/net/http_client.h"
#include "dist/net/wire.h"
#include "tests/dist/net/running.h"
#include "tests/support/wait_until.h"

namespace kaiseki::test {
namespace {

void answer(Peer& peer, const std::string& result) {
  const auto ticket = peer.last(FrameType::ticket);
  REQUIRE(ticket);
  Json control = Json::object();
  peer.say(FrameType::result, control.set("token", ticket->control.find("token")->string),
           ticket->ticket, result);
}

std::string verdict(const Peer& peer) {
  const auto frame = peer.last(FrameType::verdict);
  return frame ? frame->control.find("verdict")->string : "";
}

TEST_CASE("coordinator: nodes without the function do not delay a node that has it") {
  Running at;
  Peer* able = nullptr;
  at.on([&] {
    for (int i = 0; i < 3000; ++i) at.join("another function");
    able = &at.join("f");
  });
  at.turns(3);
  at.on([&] {
    CHECK(able->last(FrameType::welcome));
    at.task("f", 1);
  });
  at.turns(10);
  at.on([&] { CHECK(able->last(FrameType::ticket)); });
}

TEST_CASE("coordinator: a node holds two training tickets, and may be slow") {
  std::atomic<double> late = 0;
  Running at({.clock = [&] { return 1e9 + late; }});
  TaskId task = 0;
  at.on([&] {
    task = at.task(kTrainingFunction, 3, kAuthorAttempts);
    at.join(kTrainingFunction, 8);
  });
  at.turns(10);
  for (int i = 0; i < 4; ++i) {
    at.on([&] {
      CHECK(at.coordinator.pool().progress(task) == Progress{.free = 1, .leased = 2});
      late = late + 61;
      at.coordinator.pool().tick();
    });
    at.turns(10);
  }
}

TEST_CASE("coordinator: a node that reconnects gets its tickets again at once") {
  Running at;
  TaskId task = 0;
  Peer *before = nullptr, *now = nullptr;
  at.on([&] {
    task = at.task("f", 1);
    before = &at.join("f", 4);
  });
  at.turns(5);
  at.on([&] {
    CHECK(before->last(FrameType::ticket));
    const Json who = before->last(FrameType::welcome)->control;
    now = &at.join("f", 4, {who.find("node")->string, who.find("key")->string});
    at.coordinator.pool().add_tickets(
        task, std::vector<TicketSpec>(1));  // sessions with free slots come first
  });
  at.turns(10);
  at.on([&] {
    CHECK(before->closed == CloseCode::policy);
    CHECK(!now->closed);
    CHECK(std::ranges::count_if(now->heard, [](const ByteVector& message) {
            return decode_frame(message).type == FrameType::ticket;
          }) == 2);
    CHECK(at.coordinator.pool().progress(task) == Progress{.leased = 2});
    before->session.reset();  // a late end of the old connection does not end the node
    CHECK(at.coordinator.pool().progress(task) == Progress{.leased = 2});
    answer(*now, "seven");
  });
  at.turns(3);
  at.on([&] { CHECK(verdict(*now) == "accepted"); });
}

TEST_CASE("coordinator: a message that cannot be stored does not affect others") {
  Running at;
  TaskId task = 0;
  std::vector<Peer*> nodes;
  at.on([&] {
    task = at.task("f", 3);
    for (int i = 0; i < 3; ++i) nodes.push_back(&at.join("f"));
  });
  at.turns(5);
  fs::remove_all(at.blobs.folder());
  at.on([&] {  // all in one transaction
    answer(*nodes[0], "small");
    answer(*nodes[1], std::string(20000, 'x'));
    answer(*nodes[2], "small, too");
  });
  at.turns(3);
  at.on([&] {
    CHECK(verdict(*nodes[0]) == "accepted");
    CHECK(verdict(*nodes[1]).empty());
    CHECK(nodes[1]->closed == CloseCode::try_later);
    CHECK(verdict(*nodes[2]) == "accepted");
    CHECK(!nodes[0]->closed);
    CHECK(!nodes[2]->closed);
    CHECK(at.coordinator.pool().progress(task) == Progress{.leased = 1, .done = 2});
    CHECK(has(at.metrics.text({}, {}), "kaiseki_transactions_failed_total 2"));
  });
}

TEST_CASE("coordinator: an expelled node is disconnected after the verdict") {
  std::vector<std::string> lines;
  Running at({.verify = [](const Check&) { return false; }}, {},
             [&](const std::string& line) { lines.push_back(line); });
  Peer *expelled = nullptr, *liar = nullptr, *other = nullptr;
  at.on([&] {
    Pool& pool = at.coordinator.pool();
    const TaskId task =
        pool.create_task(pool.create_project("p"),
                         {.name = "t", .function = "f", .verification = Verification::adaptive});
    pool.add_tickets(task, std::vector<TicketSpec>(1));
    liar = &at.join("f");
    expelled = &at.join("g");
    other = &at.join("g");
  });
  at.turns(5);
  at.on([&] {
    const auto welcome = expelled->last(FrameType::welcome);
    REQUIRE(welcome);
    at.coordinator.pool().expel(welcome->control.find("node")->string, {"by hand"});
    answer(*liar, "a lie");
  });
  at.turns(5);
  at.on([&] {
    CHECK(expelled->closed == CloseCode::expelled);
    CHECK(verdict(*liar) == "refused");
    CHECK(liar->closed == CloseCode::expelled);
    CHECK(!other->closed);
    expelled->session.reset();
    const auto logged = [&](const std::string& reason, const std::string& by) {
      return std::ranges::any_of(lines, [&](const std::string& line) {
        return has(line, "node_expelled") && has(line, reason) && has(line, "\"by\": \"" + by) &&
               has(line, "\"address\": \"192.0.2.1\"");
      });
    };
    CHECK(logged("by hand", "author"));
    CHECK(logged("is wrong", "pool"));
  });
  const std::string nodes = at.get("/api/nodes");
  CHECK(has(nodes, "\"state\": \"connected\""));
  CHECK(has(nodes, "\"state\": \"expelled\", \"reason\": \"by hand\""));
  CHECK(has(nodes, "is wrong\""));
  at.on([&] { other->session.reset(); });
  CHECK(has(at.get("/api/nodes"), "\"state\": \"away\", \"reason\": \"\""));
  at.on([&] {
    HttpRequest request;
    request.method = "GET", request.path = "/api/nodes", request.query["function"] = "g";
    CHECK(at.coordinator.answer(request).body == "[]\n");  // no connected node has the function
  });
}

TEST_CASE("coordinator: only current and former holders may send a large result") {
  Running at;
  Peer *holder = nullptr, *thief = nullptr, *again = nullptr;
  uint64_t ticket = 0;
  Json own = Json::object(), wrong = Json::object();
  at.on([&] {
    Pool& pool = at.coordinator.pool();
    const TaskId task = pool.create_task(pool.create_project("p"), {.name = "t", .function = "f"});
    pool.add_tickets(task, std::vector<TicketSpec>(1, TicketSpec{.max_result_bytes = 50'000'000}));
    holder = &at.join("f");
    thief = &at.join("g");
  });
  at.turns(5);
  const auto limit = [](const Peer* peer, uint64_t of, const Json& said) {
    return peer->session->payload_limit(Frame{FrameType::result, of, said});
  };
  at.on([&] {
    const auto given = holder->last(FrameType::ticket);
    REQUIRE(given);
    ticket = given->ticket;
    const std::string token = given->control.find("token")->string;
    own.set("token", token), wrong.set("token", token + "0");
    CHECK(limit(holder, ticket, wrong) == 50'000'064);  // it holds the ticket
    CHECK(limit(thief, ticket, own) == 65536);
    CHECK(limit(thief, ticket, Json::object()) == 65536);
    const Json who = holder->last(FrameType::welcome)->control;
    holder->session.reset();
    again = &at.join("g", 1, {who.find("node")->string, who.find("key")->string});
  });
  at.turns(5);
  at.on([&] {
    REQUIRE(again->last(FrameType::welcome));
    CHECK(limit(again, ticket, own) == 16777216);
    CHECK(limit(again, ticket + 1, own) == 65536);
    CHECK(limit(again, ticket, wrong) == 65536);
  });
}

std::set<uint64_t> cancels(const Peer& peer) {
  std::set<uint64_t> tickets;
  for (const ByteVector& message : peer.heard)
    if (const Frame frame = decode_frame(message); frame.type == FrameType::cancel)
      tickets.insert(frame.ticket);
  return tickets;
}

TEST_CASE("coordinator: a node gets a cancel for each cancelled ticket") {
  for (const bool cancel : {true, false}) {
    // By a real clock, a ticket may be far behind when it is abandoned. Its node then rests.
    Running at({.clock = [] { return 1e9; }});
    TaskId task = 0;
    uint64_t answered = 0;
    Peer *holds = nullptr, *done = nullptr;
    at.on([&] {
      task = at.task("f", 3);
      done = &at.join("f");
    });
    at.turns(5);
    at.on([&] { holds = &at.join("f"); });
    at.turns(5);
    at.on([&] {
      REQUIRE(holds->last(FrameType::ticket));
      REQUIRE(done->last(FrameType::ticket));
      answered = done->last(FrameType::ticket)->ticket;
      answer(*done, "result");
    });
    at.turns(5);
    const auto ticket = holds->last(FrameType::ticket);
    at.on([&] {
      Pool& pool = at.coordinator.pool();
      cancel ? pool.cancel(task) : pool.abandon(task, INT64_MAX);
      CHECK(cancels(*holds) == std::set{ticket->ticket});
      CHECK(!cancels(*done).contains(answered));  // it may have got a copy of another ticket
      Json control = Json::object();
      control.set("token", ticket->control.find("token")->string);
      holds->say(FrameType::give_back, control, ticket->ticket);
      at.task("f", 2);  // one for each node: the other may have a free slot too
    });
    at.turns(5);
    at.on([&] {  // it has free slots again, and nothing was refused
      CHECK(holds->last(FrameType::ticket)->ticket != ticket->ticket);
      CHECK(has(at.metrics.text({}, {}), "reason=\"stale\"} 0"));
    });
  }
}

TEST_CASE("coordinator: an overtaken node gets a cancel, also after its lease ended") {
  std::atomic<double> now = 1e9;
  Running at({.clock = [&] { return now.load(); }});
  Peer *slow = nullptr, *fast = nullptr;
  at.on([&] {
    at.task("f", 1);
    slow = &at.join("f");
  });
  at.turns(5);
  at.on([&] { CHECK(slow->last(FrameType::ticket)); });
  now = now + 1000;
  at.on([&] {
    at.coordinator.pool().tick();
    fast = &at.join("f");
  });
  at.turns(5);
  at.on([&] {
    CHECK(cancels(*slow).empty());
    answer(*fast, "result");
  });
  at.turns(5);
  at.on([&] {
    CHECK(cancels(*slow).size() == 1);
    CHECK(cancels(*fast).empty());
    CHECK(verdict(*fast) == "accepted");
  });
}

TEST_CASE("coordinator: the public list has open tasks, then the newest finished ones") {
  Running at;
  at.on([&] {
    Pool& pool = at.coordinator.pool();
    const ProjectId project = pool.create_project("p");
    auto without_tickets = [&] {
      return pool.create_task(project, {.name = "t", .function = "f"});
    };
    const TaskId oldest = without_tickets(), open = at.task("f", 1);
    TaskId newest = 0;
    for (int i = 0; i < 100; ++i) newest = without_tickets();
    HttpRequest request;
    request.method = "GET", request.path = "/pool";
    const std::string body = at.coordinator.answer(request).body;
    auto lists = [&](TaskId task) {
      return has(body, "{\"task\":" + std::to_string(task) + ",") ||
             has(body, "{\"task\": " + std::to_string(task) + ",");
    };
    CHECK(lists(open));
    CHECK(lists(newest));
    CHECK(!lists(oldest));
  });
}

TEST_CASE("coordinator: a payload over its limit is a failed attempt of its ticket") {
  Running at;
  TaskId task = 0;
  Peer* node = nullptr;
  at.on([&] {
    task = at.task("f", 2);
    node = &at.join("f", 2);
  });
  at.turns(5);
  at.on([&] {
    const auto ticket = node->last(FrameType::ticket);
    REQUIRE(ticket);
    const Pool& pool = at.coordinator.pool();
    CHECK(pool.progress(task) == Progress{.leased = 2});
    FrameHeader header{.type = FrameType::result};
    header.ticket = ticket->ticket, header.payload_bytes = 12345678901;
    node->session->oversized(&header);
    REQUIRE(pool.errors(task).size() == 1);
    CHECK(pool.errors(task)[0].ticket == static_cast<TicketId>(ticket->ticket));
    CHECK(has(pool.errors(task)[0].text, "got 12345678901"));
    CHECK(pool.progress(task) == Progress{.free = 1, .leased = 1});
    node->session->oversized(nullptr);
    CHECK(pool.errors(task).size() == 2);
    CHECK(pool.progress(task) == Progress{.free = 2});
  });
}

TEST_CASE("coordinator: ends if the disk may have lost acknowledged data") {
  Running at({.on_finished = [](const Finished&) { throw StoreLost("the disk"); }});
  Peer* node = nullptr;
  at.on([&] {
    at.task("f", 1);
    node = &at.join("f");
  });
  at.turns(5);
  at.on([&] { answer(*node, "result"); });
  at.thread.join();
  CHECK(at.problem == "the disk");
  CHECK(verdict(*node).empty());
}

/// Runs a node over a socket until it gets a ticket. The connection remains open.
struct SocketNode {
  explicit SocketNode(const std::string& url)
      : wire({.url = parse_coordinator_url(url), .token = "token"}), thread([this] {
          wire.on_open = [this] {
            Json functions = Json::array(), hello = Json::object();
            functions.items.emplace_back("f");
            wire.send(encode_frame({FrameType::hello, 0, hello.set("functions", functions)}));
          };
          wire.on_message = [this](ByteView message) {
            const FrameType type = decode_frame(message).type;
            Json ready = Json::object();
            if (type == FrameType::welcome)
              wire.send(encode_frame({FrameType::ready, 0, ready.set("slots", 1)}));
            if (type == FrameType::ticket) has_ticket.set_value();
          };
          wire.on_closed = [this](int, const std::string&) { wire.stop(); };
          wire.connect();
          wire.run();
        }) {}
  Wire wire;
  std::promise<void> has_ticket;
  std::thread thread;
};

TEST_CASE("coordinator: if the store is lost, connections end before the coordinator") {
  std::atomic<bool> lost = false;
  Running at({.clock = [&] {
    if (lost) throw StoreLost("the disk");
    return 1e9;
  }});
  at.on([&] { at.task("f", 3); });
  std::vector<std::unique_ptr<SocketNode>> nodes;
  for (int i = 0; i < 3; ++i) nodes.push_back(std::make_unique<SocketNode>(at.server.url()));
  for (const auto& node : nodes) node->has_ticket.get_future().wait();
  lost = true;
  at.thread.join();
  CHECK(at.problem == "the disk");
  CHECK(at.server.connections() == 0);
  for (const auto& node : nodes) node->thread.join();
}

TEST_CASE("coordinator: a follower of a task sees cancelled tasks and deleted tickets") {
  for (const bool cancel : {true, false}) {
    Running at;
    TaskId task = 0;
    at.on([&] { task = at.task("f", 2); });
    HttpClient client({.url = parse_coordinator_url(at.server.url()), .token = "author"});
    auto status = std::async(std::launch::async, [&] {
      return client.follow("/api/tasks/" + std::to_string(task) + "/results?follow=1",
                           [](std::string_view) { return true; });
    });
    CHECK(status.wait_for(std::chrono::milliseconds(500)) == std::future_status::timeout);
    at.on([&] {
      Pool& pool = at.coordinator.pool();
      cancel ? pool.cancel(task) : pool.abandon(task, INT64_MAX);
    });
    const bool heard = status.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    CHECK(heard);
    if (!heard) client.close();
    CHECK((heard ? status.get() : 0) == 200);
  }
}

TEST_CASE("coordinator: a follower of a task gets empty lines while no ticket ends") {
  Running at;
  TaskId task = 0;
  at.on([&] { task = at.task("f", 1); });
  HttpClient client(
      {.url = parse_coordinator_url(at.server.url()), .token = "author", .silence = 10});
  int lines = 0;
  const auto take = [&](std::string_view line) {
    CHECK(line.empty());
    ++lines;
    at.on([&] { at.coordinator.pool().cancel(task); });
    return true;
  };
  CHECK(client.follow("/api/tasks/" + std::to_string(task) + "/results?follow=1", take) == 200);
  CHECK(lines == 1);
}

TEST_CASE("coordinator: the public lists are cached for a short time") {
  SharedText text(0.5);
  int made = 0;
  const auto get = [&](double now, const std::string& key) {
    return *text.get(now, key, [&] { return std::to_string(++made); });
  };
  CHECK(get(0, "a") == "1");
  CHECK(get(0.4, "a") == "1");
  CHECK(get(0.5, "a") == "2");
  CHECK(get(0.6, "b") == "3");
  CHECK(get(0.7, "b") == "3");
}

TEST_CASE("coordinator: the list of nodes has new nodes at once, and other changes soon") {
  Running at;
  at.on([&] { at.join("f"); });
  at.turns(3);
  CHECK(has(at.get("/api/nodes"), "\"connected\": true"));
  const std::string one = at.get("/api/nodes");
  at.on([&] { at.join("g"); });
  at.turns(3);
  CHECK(at.get("/api/nodes").size() > one.size());
  std::string offers = at.get("/pool");
  const std::string none = "{\"projects\": [], \"node_bytes_an_hour\": 0}\n";
  CHECK(offers == none);
  at.on([&] { at.task("f", 1); });
  CHECK(wait_until([&] { return has(offers = at.get("/pool"), "\"open\": 1"); }));
}

TEST_CASE("coordinator: the log and the task report an impossible quorum") {
  std::vector<std::string> lines;
  Running at({}, {}, [&](const std::string& line) { lines.push_back(line); });
  TaskId task = 0;
  at.on([&] {
    Pool& pool = at.coordinator.pool();
    task = pool.create_task(pool.create_project("p"),
                            {.name = "t", .function = "f", .verification = Verification::quorum});
    pool.add_tickets(task, std::vector<TicketSpec>(1));
    at.join("f");
  });
  const std::string path = "/api/tasks/" + std::to_string(task);
  at.turns(3);
  CHECK(has(at.get(path), "2 addresses, which must agree on each result, got 1"));
  const auto told = [&] {
    size_t count = 0;
    at.on([&] {
      count = static_cast<size_t>(std::ranges::count_if(
          lines, [](const std::string& line) { return has(line, "task_waits"); }));
    });
    return count;
  };
  CHECK(wait_until([&] { return told() == 1; }));
  for (int ticks = 0; ticks < 3; ++ticks) at.on([&] { at.coordinator.tick(1e9 + 10 * ticks); });
  CHECK(told() == 1);
  at.on([&] { at.join("f"); });
  at.turns(3);
  CHECK(has(at.get(path), "\"waits\": \"\""));
}

}  // namespace
}  // namespace kaiseki::test
