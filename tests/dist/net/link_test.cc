// SPDX-License-Identifier: MIT
#include "dist/net/link.h"

#include "dist/net/gate.h"
#include "dist/net/http_client.h"
#include "tests/dist/net/running.h"

namespace kaiseki::test {
namespace {

WireOptions to(const std::string& url, const std::string& token) {
  return {.url = parse_coordinator_url(url), .token = token};
}

TEST_CASE("link: measured in both directions, for nodes with the token") {
  Running at;
  const auto link = measure_link(to(at.server.url(), "token"));
  REQUIRE(link);
  CHECK(link->down_mbit_s > 10);
  CHECK(link->up_mbit_s > 10);
  CHECK(link->round_trip_s > 0);
  CHECK(link->round_trip_s < 1);
  CHECK_FALSE(measure_link(to(at.server.url(), "")));
  const std::string url = at.server.url();
  at.end();
  CHECK_FALSE(measure_link(to(url, "token")));
}

TEST_CASE("link: transfers at most 4 MiB and stores nothing") {
  Running at;
  HttpClient client(to(at.server.url(), "token"));
  CHECK(client.request("GET", "/link").body.size() == 1);
  CHECK(client.request("GET", "/link?bytes=4194304").body.size() == 4194304);
  CHECK(client.request("GET", "/link?bytes=4194305").status == 422);
  CHECK(client.request("GET", "/link?bytes=-1").status == 422);
  CHECK(client.request("GET", "/link?bytes=0").status == 422);
  CHECK(client.request("PUT", "/link", ByteVector(4194304)).status == 204);
  CHECK(client.request("POST", "/link").status == 405);
}

TEST_CASE("link: a peer without a token is refused, and a peer above the rate waits") {
  ServerOptions how;
  how.limits.sockets_per_address = 12;
  how.limits.connections_per_second = 0.5;
  Running at({}, how);
  for (const char* token : {"", "viewer", "wrong"}) {
    HttpClient client(to(at.server.url(), token));
    CHECK(client.request("GET", "/link").status == 401);
    CHECK(client.request("PUT", "/link", ByteVector(1)).status == 401);
  }
  CHECK(at.metrics.refused(Refusal::node_token) == 4);  // the wrong token was not sent
  CHECK(at.metrics.refused(Refusal::link_rate) == 0);
  HttpClient client(to(at.server.url(), "author"));
  int answered = 0;
  while (answered < 10'000 && client.request("GET", "/link").status == 200) ++answered;
  CHECK(answered >= 12 * Gate::kRequests);
  CHECK(answered < 10'000);
  CHECK(at.metrics.refused(Refusal::link_rate) == 1);
  CHECK(client.request("GET", "/healthz").status == 200);
  CHECK(measure_link(to(at.server.url(), "token")));
}

}  // namespace
}  // namespace kaiseki::test
