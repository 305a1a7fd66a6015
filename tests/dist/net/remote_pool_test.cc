// SPDX-License-Identifier: MIT
// Training's channel over a coordinator that it reaches by HTTP.
#include "dist/net/remote_pool.h"

#include "dist/net/author.h"
#include "nn/io/sha256.h"
#include "tests/dist/net/fake.h"
#include "tests/dist/net/running.h"

namespace kaiseki::test {
namespace {

/// A node that answers a ticket with "of " and what it got, whatever the way.
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
  /// The only one.
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
  /// Answers tickets that came since the last time.
  void answer(Peer& peer) {
    on([&] {
      for (; seen < peer.heard.size(); ++seen) {
        const Frame frame = decode_frame(peer.heard[seen]);
        if (frame.type != FrameType::ticket) continue;
        std::string input = text({frame.payload.begin(), frame.payload.end()});
        for (const nn::Json& blob : frame.control.find("blobs")->items)
          input += text(blobs.read(blob.string));
        nn::Json control = nn::Json::object();
        answers.push_back({frame.ticket, control.set("token", frame.control.find("token")->string),
                           "of " + input});
      }
      for (auto& [ticket, control, result] : answers)
        peer.say(FrameType::result, control, ticket, result);
      answers.clear();
    });
  }
  std::optional<TicketResult> receive(Peer& peer, Channel& channel) {
    for (int i = 0; i < 100; ++i) {
      answer(peer);
      if (auto result = channel.receive(0.1)) return result;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return std::nullopt;
  }

  /// Who answers the first ticket of a channel.
  NodeId first_answer(Channel& channel) {
    Peer& peer = node();
    channel.submit(1, {bytes("one"), 1000});
    const auto result = receive(peer, channel);
    REQUIRE(result);
    return result->node;
  }
  /// Until the channel has no node; why that one was put out.
  std::string why_out(Channel& channel, const NodeId& id) {
    for (int i = 0; i < 100 && !channel.nodes().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(channel.nodes().empty());
    std::string why;
    on([&] { why = coordinator.pool().node(id)->expelled; });
    return why;
  }

  struct Said {
    uint64_t ticket;
    nn::Json control;
    std::string result;
  };
  WireOptions limit{
      .url = parse_coordinator_url(server.url()), .token = "author", .certificates = {}};
  std::vector<Said> answers;
  size_t seen = 0;
};

void put(Channel& channel, const std::string& content) {
  channel.put_blob(BlobKind::weights, nn::sha256(bytes(content)),
                   std::make_shared<const ByteVector>(bytes(content)));
}

TEST_CASE("remote pool: tickets go to the coordinator's nodes, large ones too, and nothing stays") {
  Fixture at;
  const std::string large(200000, 'x');
  {
    RemotePool pool(at.limit);
    Channel& channel = pool.channel();
    put(channel, "weights");
    channel.submit(1, {bytes("one"), 1000});
    CHECK_FALSE(channel.receive(0));  // nobody is there
    Peer& node = at.node();
    auto result = at.receive(node, channel);
    REQUIRE(result);
    CHECK(result->ticket == 1);
    CHECK(text(result->bytes) == "of one");
    REQUIRE(channel.nodes().size() == 1);
    CHECK(channel.nodes()[0].name == result->node);
    CHECK(at.blobs.contains(nn::sha256(bytes("weights"))));
    channel.close(1);
    channel.submit(2, {bytes(large), 300000});
    result = at.receive(node, channel);
    REQUIRE(result);
    CHECK(text(result->bytes) == "of " + large);
    channel.close(2);
    channel.drop_blob(nn::sha256(bytes("weights")));
  }
  CHECK(at.projects() == 0);
  for (const fs::directory_entry& blob : fs::directory_iterator(at.blobs.folder()))
    fs::last_write_time(blob, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  for (int i = 0; i < 500 && !fs::is_empty(at.blobs.folder()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(fs::is_empty(at.blobs.folder()));
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
  for (int i = 0; i < 200 && heard() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(heard() == 2);
  REQUIRE(channel.nodes().size() == 1);
  CHECK(channel.nodes()[0].at_once == 2);
}

TEST_CASE("remote pool: what the coordinator lost is handed over again") {
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

TEST_CASE("remote pool: weights that the coordinator does not take end training, and say why") {
  ServerOptions how;
  how.limits.blob_bytes = 1000;
  Fixture at(how);
  RemotePool pool(at.limit);
  at.node();
  for (const size_t size : {size_t{2000}, size_t{3} << 20}) {
    put(pool.channel(), std::string(size, 'x'));
    pool.channel().submit(size, {bytes("one"), 1000});
    const std::string error = error_of([&] {
      for (int i = 0; i < 100; ++i) {
        pool.channel().receive(0.1);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
    CHECK(has(error, "at most 1000 bytes"));
    CHECK(has(error, "--limit blob_bytes"));
  }
}

TEST_CASE("remote pool: what an operator paused waits there, also when the connection was lost") {
  Fixture at;
  RemotePool pool(at.limit);
  Channel& channel = pool.channel();
  put(channel, "before");
  at.first_answer(channel);
  channel.close(1);
  const TaskId task = at.task();
  const auto is_held = [&](bool held) {
    for (int i = 0; i < 200 && channel.held() != held; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return channel.held();
  };
  at.on([&] { at.coordinator.pool().pause(task); });
  CHECK(is_held(true));
  channel.submit(2, {bytes("two"), 1000});
  channel.close(2);  // what was not done goes, the task stays
  channel.submit(3, {bytes("three"), 1000});
  CHECK_FALSE(channel.receive(0));
  // As if the coordinator had been away: the projects of the samples go.
  at.on([&] {
    Pool& there = at.coordinator.pool();
    for (const ProjectStatus& one : there.projects())
      if (one.id != there.task(task).project) there.remove_project(one.id);
  });
  put(channel, "weights");
  for (int i = 0; i < 200 && at.projects() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(is_held(true));
  CHECK(at.task() == task);
  at.on([&] { at.coordinator.pool().resume(task); });
  CHECK(!is_held(false));
  const auto result = at.receive(*at.peers[0], channel);
  REQUIRE(result);
  CHECK(result->ticket == 3);
}

TEST_CASE("remote pool: what an operator cancelled ends training") {
  Fixture at;
  RemotePool pool(at.limit);
  at.first_answer(pool.channel());
  pool.channel().close(1);
  at.on([&] { at.coordinator.pool().cancel(at.coordinator.pool().tasks()[0].id); });
  pool.channel().submit(2, {bytes("two"), 1000});
  CHECK(has(error_of([&] {
              for (int i = 0; i < 200; ++i) {
                pool.channel().receive(0.1);
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
              }
            }),
            "cancelled at the coordinator"));
  CHECK(at.projects() == 1);
}

TEST_CASE("remote pool: a liar is put out there") {
  Fixture at;
  RemotePool pool(at.limit);
  const NodeId id = at.first_answer(pool.channel());
  pool.channel().expel(id, "its result is wrong: 100 % & more");
  CHECK(at.why_out(pool.channel(), id) == "its result is wrong: 100 % & more");
}

TEST_CASE("remote pool: whatever a liar said, it is put out and nothing is handed over again") {
  Fixture at;
  RemotePool pool(at.limit);
  const NodeId id = at.first_answer(pool.channel());
  pool.channel().expel("00000000000000000000000000000000", "whom nobody knows");
  pool.channel().expel(id, std::string(5000, '\xff'));
  const std::string why = at.why_out(pool.channel(), id);
  CHECK(!why.empty());
  CHECK(why.size() <= 2000);
  CHECK(at.projects() == 1);
}

TEST_CASE("remote pool: a blob that is put again is not thrown away with its former self") {
  Fixture at;
  RemotePool pool(at.limit);
  Channel& channel = pool.channel();
  Peer& node = at.node();
  const std::string hash = nn::sha256(bytes("weights"));
  put(channel, "weights");
  channel.submit(1, {bytes("one"), 1000});
  REQUIRE(at.receive(node, channel));
  channel.drop_blob(hash);
  put(channel, "weights");
  std::this_thread::sleep_for(std::chrono::seconds(6));  // the channel tidies up every 5
  channel.submit(2, {bytes("two"), 1000});
  REQUIRE(at.receive(node, channel));
  at.on([&] { CHECK(text(at.blobs.read(hash)) == "weights"); });
}

TEST_CASE("remote pool: numbers that nothing can be are none") {
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
    for (int i = 0; i < 200 && channel.nodes().empty() == wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return channel.nodes();
  };
  const auto there = nodes(true);
  REQUIRE(there.size() == 2);
  CHECK(there[0].at_once == 1);
  CHECK(there[1].at_once == 2);
  channel.submit(1, {bytes("one"), 1000});
  CHECK(nodes(false).empty());  // training goes on alone
}

TEST_CASE("remote pool: the viewer's token does not train") {
  Fixture at;
  WireOptions viewer = at.limit;
  viewer.token = "viewer";
  CHECK(has(error_of([&] { RemotePool pool(viewer); }), "the viewer's"));
}

TEST_CASE("remote pool: a wrong token, or nobody there, is told at once") {
  Fixture at;
  WireOptions wrong = at.limit;
  wrong.token = "another";
  CHECK(has(error_of([&] { RemotePool pool(wrong); }), "--pool-token-file"));
  wrong.token = "";
  CHECK(has(error_of([&] { RemotePool pool(wrong); }), "got none"));
  at.end();
  CHECK(has(error_of([&] { RemotePool pool(at.limit); }), "no answer"));
}

}  // namespace
}  // namespace kaiseki::test
