// SPDX-License-Identifier: MIT
// An idle connection ends `keep_alive_seconds` after its last answer.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/dist/net/running.h"

namespace kaiseki::test {
namespace {

/// A connection that sends requests and reads answers as bytes.
class RawClient {
 public:
  explicit RawClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval longest{30, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view text) {
    REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
  /// Returns the received text, up to `end` or to the end of the connection.
  std::string read_until(std::string_view end) {
    std::string got;
    for (char c; !got.ends_with(end) && ::recv(socket_, &c, 1, 0) == 1;) got += c;
    return got;
  }
  /// Whether the server closed the connection. Waits for it, and discards nothing else.
  bool ends() {
    char c;
    return ::recv(socket_, &c, 1, 0) == 0;
  }

 private:
  int socket_;
};

}  // namespace

TEST_CASE("keep-alive: an idle connection ends, one with a further request does not") {
  constexpr std::string_view kRequest = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ServerOptions how;
  how.limits.keep_alive_seconds = 1;
  Running at({}, how);
  RawClient client(at.server.port());
  for (int i = 0; i < 2; ++i) {
    client.send(kRequest);
    CHECK(has(client.read_until("ok\n"), "Connection: keep-alive"));
  }
  const double answered = steady_seconds();
  CHECK(client.ends());
  CHECK(steady_seconds() - answered > 0.9);
  CHECK(steady_seconds() - answered < 20);
  CHECK(at.metrics.refused(Refusal::handshake_time) == 0);
}

}  // namespace kaiseki::test
