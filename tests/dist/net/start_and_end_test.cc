// SPDX-License-Identifier: MIT
// The coordinator's start, its end, and work that must not delay others.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/dist/net/running.h"

namespace kaiseki::test {
namespace {

bool connects(uint16_t port) {
  const int peer = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int failed = ::connect(peer, reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::close(peer);
  return failed == 0;
}

}  // namespace

TEST_CASE("coordinator: no connection is accepted before the store is open") {
  Folder folder;
  ServerMetrics metrics;
  EventLog log({}, 100);
  Server server({}, metrics, log);
  CHECK(!connects(server.port()));
  const auto store = open_sqlite_store(folder / "pool.sqlite");
  BlobStore blobs(folder / "blobs");
  CHECK(!connects(server.port()));
  const Coordinator coordinator(
      {.store = *store, .blobs = blobs, .server = server, .metrics = metrics, .log = log},
      {.author_token = "author", .node_token = "token"});
  CHECK(connects(server.port()));
}

TEST_CASE("coordinator: its end is no failure of a node that still computes") {
  Running at;
  Peer* node = nullptr;
  at.on([&] {
    at.task("f", 1);
    node = &at.join("f");
  });
  at.turns(5);
  at.end();
  REQUIRE(node->last(FrameType::ticket));
  const NodeId id = node->last(FrameType::welcome)->control.find("node")->string;
  node->session.reset();
  CHECK(at.coordinator.pool().node(id)->failed == 0);
}

TEST_CASE("coordinator: tickets that nodes give back at its end are no failures of them") {
  Running at;
  std::vector<Peer*> nodes;
  at.on([&] {
    at.task("f", 4);
    for (int i = 0; i < 2; ++i) nodes.push_back(&at.join("f"));
  });
  at.turns(5);
  at.on([&] {
    at.coordinator.drain();
    for (Peer* node : nodes) {
      REQUIRE(node->last(FrameType::drain));
      const auto ticket = node->last(FrameType::ticket);
      REQUIRE(ticket);
      Json control = Json::object();
      control.set("token", ticket->control.find("token")->string);
      if (node == nodes[1]) control.set("error", "a failure");
      node->say(FrameType::give_back, control, ticket->ticket);
    }
  });
  at.turns(5);
  at.on([&] {
    CHECK(at.coordinator.settled());
    for (Peer* node : nodes) {
      const NodeId id = node->last(FrameType::welcome)->control.find("node")->string;
      CHECK(at.coordinator.pool().node(id)->failed == (node == nodes[1]));
      CHECK(at.coordinator.pool().node(id)->leases == 0);
    }
  });
}

TEST_CASE("coordinator: the hash of a large blob is checked in pieces before it is sent") {
  Running at;
  const std::string content(10 << 20, 'x');
  const BlobHash hash = BlobStore(at.folder / "blobs", {.free_floor = 0}).put(bytes(content));
  at.on([&] {
    HttpRequest request;
    request.method = "GET";
    request.path = "/blobs/" + hash;
    const HttpResponse response = at.coordinator.answer(request);
    for (int i = 0; i < 2; ++i) CHECK(response.next().kind == HttpChunk::Kind::wait);
    std::string got;
    for (HttpChunk chunk; (chunk = response.next()).kind == HttpChunk::Kind::bytes;)
      got += chunk.bytes;
    CHECK(got == content);
  });
}

}  // namespace kaiseki::test
