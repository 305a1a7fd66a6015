// SPDX-License-Identifier: MIT
#include "dist/net/api_client.h"

#include <doctest/doctest.h>

#include "dist/net/author.h"
#include "tests/dist/net/fake.h"
#include "tests/dist/net/running.h"

namespace kaiseki::test {
namespace {

WireOptions to(const std::string& url) {
  return {.url = parse_coordinator_url(url), .token = "author", .certificates = {}, .silence = 5};
}

/// The result for a coordinator that answers each request with this status and body.
template <class Call>
std::string what_of(int status, const std::string& body, Call call) {
  Fake fake([&](int socket) {
    while (!Fake::head(socket).empty())
      Fake::say(socket, "HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  ApiClient client(to(fake.url));
  try {
    call(client);
  } catch (const ApiRefused& error) {
    CHECK(error.status == status);
    return std::string("refused: ") + error.what();
  } catch (const AuthorLost& error) {
    return std::string("lost: ") + error.what();
  }
  return "fine";
}

const auto ask = [](ApiClient& client) { client.ask("GET", "/api/x"); };
const auto make = [](ApiClient& client) { client.make("/api/x", Json::object(), "task"); };

}  // namespace

TEST_CASE(
    "api client: a refusal throws ApiRefused with status and reason, other failures AuthorLost") {
  CHECK(what_of(200, "{\"a\": 1}", ask) == "fine");
  CHECK(what_of(204, "", ask) == "fine");
  CHECK(what_of(404, "{\"error\": \"no task\"}", ask) ==
        "refused: [pool] GET /api/x got status 404: no task");
  CHECK(what_of(400, "<html>", ask) == "refused: [pool] GET /api/x got status 400: ");
  for (int status : {302, 429, 500, 503, 507})
    CHECK(what_of(status, "{\"error\": \"later\"}", ask) ==
          "lost: [pool] GET /api/x got status " + std::to_string(status) + ": later");
  CHECK(what_of(200, "not JSON", ask).starts_with("lost: "));
}

TEST_CASE("api client: make() accepts numbers of 1 or more") {
  CHECK(what_of(201, "{\"task\": 3}", make) == "fine");
  CHECK(what_of(201, "{\"task\": 0}", make) == "lost: [pool] expected a task of /api/x, got none");
  CHECK(what_of(201, "{}", make) == "lost: [pool] expected a task of /api/x, got none");
}

TEST_CASE("api client: a missing coordinator throws AuthorLost") {
  ApiClient client(to("http://127.0.0.1:9"));
  CHECK_THROWS_AS(client.ask("GET", "/api/x"), AuthorLost);
}

TEST_CASE("api client: a running coordinator") {
  Running at;
  ApiClient client(to(at.server.url()));
  Json body = Json::object();
  const int64_t project = client.make("/api/projects", body.set("name", "p"), "project");
  CHECK(client.ask("GET", "/api/projects").items.size() == 1);
  client.ask("DELETE", "/api/projects/" + std::to_string(project));
  CHECK_THROWS_AS(client.ask("DELETE", "/api/projects/77"), ApiRefused);
}

}  // namespace kaiseki::test
