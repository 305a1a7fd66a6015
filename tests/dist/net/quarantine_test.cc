// SPDX-License-Identifier: MIT
#include "dist/net/quarantine.h"

#include <doctest/doctest.h>

#include "tests/dist/net/running.h"

namespace kaiseki::test {
namespace {

/// A page of this address says hello.
Peer& visit(Running& at, const std::string& address, const NodeIdentity& known = {}) {
  at.peers.push_back(std::make_unique<Peer>(address));
  Peer& peer = *at.peers.back();
  HttpRequest head;
  head.headers["origin"] = "http://127.0.0.1";
  peer.session = at.coordinator.open_node(head, peer);
  Json hello = Json::object();
  peer.say(FrameType::hello, hello.set("node", known.id).set("key", known.key));
  return peer;
}

NodeIdentity identity_of(const Peer& peer) {
  const auto welcome = peer.last(FrameType::welcome);
  if (!welcome) return {};
  return {welcome->control.find("node")->string, welcome->control.find("key")->string};
}

}  // namespace

TEST_CASE("each expulsion doubles the time that new nodes of the address wait, up to an hour") {
  Quarantine quarantine;
  double now = 1000;
  CHECK(quarantine.wait("a", now) == 0);
  for (const double seconds : {60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 3600.0, 3600.0}) {
    quarantine.expelled("a", now);
    CHECK(quarantine.wait("a", now) == seconds);
    CHECK(quarantine.wait("a", now + seconds - 1) == 1);
    CHECK(quarantine.wait("b", now) == 0);
    now += seconds;
    CHECK(quarantine.wait("a", now) == 0);
  }
  quarantine.forget(now);
  CHECK(quarantine.size() == 1);
  now += Quarantine::kRemembered;
  quarantine.forget(now);
  CHECK(quarantine.size() == 0);
  quarantine.expelled("a", now);
  CHECK(quarantine.wait("a", now) == 60);
}

TEST_CASE("coordinator: an expelled page is not back at once as a new node of its address") {
  ServerOptions how;
  how.origins = {"http://127.0.0.1"};
  Running at({}, how);
  Peer *liar = nullptr, *known = nullptr;
  at.on([&] { liar = &visit(at, "192.0.2.1"), known = &visit(at, "192.0.2.1"); });
  at.turns(3);
  NodeIdentity expelled, other;
  at.on([&] {
    expelled = identity_of(*liar), other = identity_of(*known);
    liar->session.reset();  // it left before its lie was found
    known->session.reset();
    at.coordinator.pool().expel(expelled.id, {"a lie"});
  });
  REQUIRE(!expelled.id.empty());
  Peer *anew = nullptr, *same = nullptr, *back = nullptr, *elsewhere = nullptr;
  at.on([&] {
    anew = &visit(at, "192.0.2.1");
    same = &visit(at, "192.0.2.1", expelled);
    back = &visit(at, "192.0.2.1", other);
    elsewhere = &visit(at, "192.0.2.2");
  });
  at.turns(3);
  at.on([&] {
    CHECK(anew->closed == CloseCode::try_later);
    CHECK(identity_of(*anew).id.empty());
    CHECK(same->closed == CloseCode::policy);
    CHECK(identity_of(*back).id == other.id);
    CHECK(!identity_of(*elsewhere).id.empty());
    CHECK(at.metrics.refused(Refusal::expelled_address) == 1);
  });
}

}  // namespace kaiseki::test
