// SPDX-License-Identifier: MIT
#include "dist/net/http.h"

#include <doctest/doctest.h>

using namespace kaiseki::dist;

TEST_CASE("http: targets") {
  HttpRequest request;
  CHECK(parse_target("/a%20b/c+d?x=1&y=p%26q+r&z&=&x=2", request));
  CHECK(request.path == "/a b/c+d");
  CHECK(request.parameter("x") == "2");
  CHECK(request.parameter("y") == "p&q r");
  CHECK(request.parameter("z", "?") == "");
  CHECK(request.parameter("none", "?") == "?");
  for (const char* bad : {"", "a", "*", "http://h/", "/%", "/%4", "/%zz", "/?a=%", "/a%00b"}) {
    CAPTURE(bad);
    HttpRequest other;
    CHECK_FALSE(parse_target(bad, other));
  }
}

TEST_CASE("http: ranges of RFC 9110") {
  using Range = std::optional<std::pair<uint64_t, uint64_t>>;
  CHECK(parse_range("bytes=0-0", 10) == Range({0, 1}));
  CHECK(parse_range("bytes=2-", 10) == Range({2, 8}));
  CHECK(parse_range("bytes=2-5", 10) == Range({2, 4}));
  CHECK(parse_range("bytes=2-99", 10) == Range({2, 8}));
  CHECK(parse_range("bytes=-3", 10) == Range({7, 3}));
  CHECK(parse_range("bytes=-30", 10) == Range({0, 10}));
  CHECK(parse_range("bytes=10-", 10)->second == 0);
  CHECK(parse_range("bytes=-0", 10)->second == 0);
  for (const char* ignored : {"", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=0-1,4-5",
                              "lines=0-1", "bytes=a-b", "bytes=0-18446744073709551616"})
    CHECK_FALSE(parse_range(ignored, 10));
}

TEST_CASE("http: has_bearer() compares the whole token") {
  HttpRequest request;
  CHECK_FALSE(has_bearer(request, "secret"));
  CHECK_FALSE(has_bearer(request, ""));
  for (const char* bad : {"secret", "Bearer secre", "Bearer secrets", "Bearer ", "bearer secret"}) {
    request.headers["authorization"] = bad;
    CHECK_FALSE(has_bearer(request, "secret"));
    CHECK_FALSE(has_bearer(request, ""));
  }
  request.headers["authorization"] = "Bearer secret";
  CHECK(has_bearer(request, "secret"));
}
