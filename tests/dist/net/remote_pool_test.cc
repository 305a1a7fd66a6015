// SPDX-License-Identifier: MIT
// RemotePool with a coordinator in this process, over HTTP.
#include "dist/net/remote_pool.h"

#include "base/sha256.h"
#include "dist/net/author.h"
#include "tests/dist/net/fake.h"
#include "tests/dist/net/running.h"
#include "tests/support/wait_until.h"

namespace kaiseki::test {
namespace {

/// A node that answers a ticket with "of " and the input, as bytes or blob.
struct Fixture : Running {
  explicit Fixture(const ServerOptions& how = {}) : Running({}, how) { limit.silence = 15; }

  Peer& node() {
    Peer* peer = nullptr;
    on([&] { peer = &join(kTrainingFunction, 8); });
    return *peer;
  }
  void remove_projects() {
    on([&] {
      for (const ProjectStatus& one : coordinator.pool().projects())
        coordinator.pool().remove_project(one.id);
    });
  }
  /// The only node.
  TaskId task() {
    TaskId id = 0;
    on([&] {
      REQUIRE(coordinator.pool().tasks().size() == 1);
      id = coordinator.pool().tasks()[0].id;
    });
    return id;
  }
  size_t projects() {
    size_t count = 0;
    on([&] { count = coordinator.pool().projects().size(); });
    return count;
  }
  /// Answers the new tickets.
  void answer(Peer& peer) {
    on([&] {
      for (; seen < peer.heard.size(); ++seen) {
        const Frame frame = decode_frame(peer.heard[seen]);
        if (frame.type != FrameType::ticket) continue;
        std::string input = text({frame.payload.begin(), frame.payload.end()});
        for (const Json& blob : frame.control.find("blobs")->items)
          input += text(blobs.read(blob.string));
        Json control = Json::object();
        answers.push_back({frame.ticket, control.set("token", frame.control.find("token")->string),
                           "of " + input});
      }
      for (auto& [ticket, control, result] : answers)
        peer.say(FrameType::result, control, ticket, result);
      answers.clear();
    });
  }
  std::optional<TicketResult> receive(Peer& peer, Channel& channel) {
    std::optional<TicketResult> result;
    wait_until([&] {
      answer(peer);
      return (result = channel.receive(0.05)).has_value();
    });
    return result;
  }

  /// The node that answers the first ticket of a channel.
  NodeId first_answer(Channel& channel) {
    Peer& peer = node();
    channel.submit(1, {bytes("one"), 1000});
    const auto result = receive(peer, channel);
    REQUIRE(result);
    return result->node;
  }
  /// Waits until the channel has no node. Returns the reason of the expulsion.
  std::string why_out(Channel& channel, const NodeId& id) {
    CHECK(wait_until([&] { return channel.nodes().empty(); }));
    std::string why;
    on([&] { why = coordinator.pool().node(id)->expelled; });
    return why;
  }

  struct Said {
    uint64_t ticket;
    Json control;
    std::string result;
  };
  WireOptions limit{
      .url = parse_coordinator_url(server.url()), .token = "author", .certificates = {}};
  std::vector<Said> answers;
  size_t seen = 0;
};

void put(Channel& channel, const std::string& content) {
  channel.put_blob(BlobKind::weights, sha256(bytes(content)),
                   std::make_shared<const ByteVector>(bytes(content)));
}

TEST_CASE("remote pool: the coordinator's nodes get the tickets, and nothing remains afterwards") {
  Fixture at;
  const std::string large(200000, 'x');
  {
    RemotePool pool(at.limit);
    Channel& channel = pool.channel();
    put(channel, "weights");
    channel.submit(1, {bytes("one"), 1000});
    CHECK_FALSE(channel.receive(0));  // there are no nodes
    Peer& node = at.node();
    auto result = at.receive(node, channel);
    REQUIRE(result);
    CHECK(result->ticket == 1);
    CHECK(text(result->bytes) == "of one");
    REQUIRE(channel.nodes().size() == 1);
    CHECK(channel.nodes()[0].name == result->node);
    CHECK(at.blobs.contains(sha256(bytes("weights"))));
    channel.close(1);
    channel.submit(2, {bytes(large), 300000});
    result = at.receive(node, channel);
    REQUIRE(result);
    CHECK(text(result->bytes) == "of " + large);
    channel.close(2);
    channel.drop_blob(sha256(bytes("weights")));
  }
  CHECK(at.projects() == 0);
  for (const fs::directory_entry& blob : fs::directory_iterator(at.blobs.folder()))
    fs::last_write_time(blob, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  CHECK(wait_until([&] { return fs::is_empty(at.blobs.folder()); }));
}

TEST_CASE("remote pool: a node holds two tickets, however many threads it has") {
  Fixture at;
  RemotePool pool(at.limit);
  Channel& channel = pool.channel();
  Peer& node = at.node();
  const auto heard = [&] {
    int tickets = 0;
    at.on([&] {
      for (const ByteVector& message : node.heard)
        tickets += decode_frame(message).type == FrameType::ticket;
    });
    return tickets;
  };
  for (uint64_t id = 1; id <= 5; ++id) channel.submit(id, {bytes("one"), 1000});
  const auto waiting = [&] {
    int64_t tickets = 0;
    at.on([&] {
      const Pool& pool = at.coordinator.pool();
      for (const TaskStatus& task : pool.tasks()) tickets += pool.progress(task.id).free;
    });
    return tickets;
  };
  CHECK(wait_until([&] { return waiting() == 3; }));
  at.turns(3);
  CHECK(heard() == 2);
  REQUIRE(channel.nodes().size() == 1);
  CHECK(channel.nodes()[0].at_once == 2);
}

TEST_CASE("remote pool: tickets and blobs that the coordinator lost are added again") {
  Fixture at;
  RemotePool pool(at.limit);
  Channel& channel = pool.channel();
  Peer& node = at.node();
  put(channel, "weights");
  pool.report({1, 2.5});
  channel.submit(1, {bytes("one"), 1000});
  REQUIRE(at.receive(node, channel));
  channel.close(1);
  pool.report({2, 2.25, 0.5});
  at.remove_projects();
  channel.submit(2, {bytes("two"), 1000});
  const auto result = at.receive(node, channel);
  REQUIRE(result);
  CHECK(result->ticket == 2);
  CHECK(text(result->bytes) == "of two");
  CHECK(at.projects() == 2);
  std::string curve;
  at.on([&] {
    const TaskId task = at.coordinator.pool().tasks()[0].id;
    curve = std::to_string(at.coordinator.pool().task(task).project);
  });
  curve = at.get("/api/projects/" + curve + "/curve");
  CHECK(has(curve, R"({"step": 1, "loss": 2.5})"));
  CHECK(has(curve, R"({"step": 2, "loss": 2.25, "accuracy": 0.5})"));
}

TEST_CASE("remote pool: weights over the coordinator's limit end training with an error") {
  ServerOptions how;
  how.limits.blob_bytes = 1000;
  Fixture at(how);
  RemotePool pool(at.limit);
  at.node();
  for (const size_t size : {size_t{2000}, size_t{3} << 20}) {
    put(pool.channel(), std::string(size, 'x'));
    pool.channel().submit(size, {bytes("one"), 1000});
    const std::string error =
        error_of([&] { wait_until([&] { return pool.channel().receive(0.1).has_value(); }); });
    CHECK(has(error, "at most 1000 bytes"));
    CHECK(has(error, "limit blob_bytes"));
  }
}

TEST_CASE("remote pool: a paused task waits, also after a lost connection") {
  Fixture at;
  RemotePool pool(at.limit);
  Channel& channel = pool.channel();
  put(channel, "before");
  at.first_answer(channel);
  channel.close(1);
  const TaskId task = at.task();
  const auto is_paused = [&](bool paused) {
    return wait_until([&] { return channel.is_paused() == paused; });
  };
  at.on([&] { at.coordinator.pool().pause(task); });
  CHECK(is_paused(true));
  channel.submit(2, {bytes("two"), 1000});
  channel.close(2);  // open tickets are deleted, the task stays
  channel.submit(3, {bytes("three"), 1000});
  CHECK_FALSE(channel.receive(0));
  // Simulates a coordinator that was away: deletes the project of the samples.
  at.on([&] {
    Pool& there = at.coordinator.pool();
    for (const ProjectStatus& one : there.projects())
      if (one.id != there.task(task).project) there.remove_project(one.id);
  });
  put(channel, "weights");
  CHECK(wait_until([&] { return at.projects() == 2; }));
  CHECK(is_paused(true));
  CHECK(at.task() == task);
  at.on([&] { at.coordinator.pool().resume(task); });
  CHECK(is_paused(false));
  const auto result = at.receive(*at.peers[0], channel);
  REQUIRE(result);
  CHECK(result->ticket == 3);
}

TEST_CASE("remote pool: canceling the task ends training") {
  Fixture at;
  RemotePool pool(at.limit);
  at.first_answer(pool.channel());
  pool.channel().close(1);
  at.on([&] { at.coordinator.pool().cancel(at.coordinator.pool().tasks()[0].id); });
  pool.channel().submit(2, {bytes("two"), 1000});
  CHECK(has(error_of([&] { wait_until([&] { return pool.channel().receive(0.1).has_value(); }); }),
            "cancelled at the coordinator"));
  CHECK(at.projects() == 1);
}

TEST_CASE("remote pool: the coordinator expels a node for training") {
  Fixture at;
  RemotePool pool(at.limit);
  const NodeId id = at.first_answer(pool.channel());
  pool.channel().expel(id, {"its result is wrong: 100 % & more"});
  CHECK(at.why_out(pool.channel(), id) == "its result is wrong: 100 % & more");
}

TEST_CASE("remote pool: the coordinator counts the kind of an expulsion") {
  Fixture at;
  RemotePool pool(at.limit);
  const NodeId id = at.first_answer(pool.channel());
  pool.channel().expel(id, {"100 % & more", ExpulsionKind::wrong_value});
  CHECK(at.why_out(pool.channel(), id) == "wrong value: 100 % & more");
  at.on([&] {
    CHECK(at.metrics.refused(Refusal::wrong_value) == 1);
    CHECK(at.metrics.refused(Refusal::wrong_form) == 0);
  });
}

TEST_CASE("remote pool: long reasons and unknown nodes do not disturb an expulsion") {
  Fixture at;
  RemotePool pool(at.limit);
  const NodeId id = at.first_answer(pool.channel());
  pool.channel().expel("00000000000000000000000000000000", {"an unknown node"});
  pool.channel().expel(id, {std::string(5000, '\xff')});
  const std::string why = at.why_out(pool.channel(), id);
  CHECK(!why.empty());
  CHECK(why.size() <= 2000);
  CHECK(at.projects() == 1);
}

TEST_CASE("remote pool: a blob that is dropped and put again is kept") {
  Fixture at;
  RemotePool pool(at.limit);
  Channel& channel = pool.channel();
  Peer& node = at.node();
  const std::string hash = sha256(bytes("weights")), old = sha256(bytes("old"));
  put(channel, "weights");
  put(channel, "old");
  channel.submit(1, {bytes("one"), 1000});
  REQUIRE(at.receive(node, channel));
  channel.drop_blob(hash);
  put(channel, "weights");
  channel.drop_blob(old);
  CHECK(wait_until([&] {  // every 5 s the channel deletes old data, when it has something to do
    channel.close(0);
    bool is_there = true;
    at.on([&] { is_there = at.blobs.contains(old); });
    return !is_there;
  }));
  channel.submit(2, {bytes("two"), 1000});
  REQUIRE(at.receive(node, channel));
  at.on([&] { CHECK(text(at.blobs.read(hash)) == "weights"); });
}

TEST_CASE("remote pool: impossible measurements of nodes are ignored") {
  Fake fake([&](int socket) {
    const std::string head = Fake::head(socket);
    const std::string body =
        has(head, "GET /api/nodes?") ? R"([{"node": "a", "connected": true, "threads": 1e300},
                  {"node": "b", "connected": true, "threads": 1e12}])"
        : has(head, "/tickets ")     ? R"({"first": 1e300})"
                                     : R"({"role": "author", "project": 1, "task": 1})";
    Fake::say(socket, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " +
                          std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  RemotePool pool({.url = parse_coordinator_url(fake.url), .token = "author", .silence = 15});
  Channel& channel = pool.channel();
  const auto nodes = [&](bool wanted) {
    wait_until([&] { return channel.nodes().empty() != wanted; });
    return channel.nodes();
  };
  const auto there = nodes(true);
  REQUIRE(there.size() == 2);
  CHECK(there[0].at_once == 1);
  CHECK(there[1].at_once == 2);
  channel.submit(1, {bytes("one"), 1000});
  CHECK(nodes(false).empty());  // training continues alone
}

TEST_CASE("remote pool: the viewer's token is rejected") {
  Fixture at;
  WireOptions viewer = at.limit;
  viewer.token = "viewer";
  CHECK(has(error_of([&] { RemotePool pool(viewer); }), "the viewer's"));
}

TEST_CASE("remote pool: a wrong token or a missing coordinator throws at once") {
  Fixture at;
  WireOptions wrong = at.limit;
  wrong.token = "another";
  CHECK_THROWS_AS(RemotePool pool(wrong), WrongToken);
  CHECK(has(error_of([&] { RemotePool pool(wrong); }), "got one that it does not know"));
  wrong.token = "";
  CHECK(has(error_of([&] { RemotePool pool(wrong); }), "got none"));
  at.end();
  CHECK(has(error_of([&] { RemotePool pool(at.limit); }), "no answer"));
}

}  // namespace
}  // namespace kaiseki::test
