// SPDX-License-Identifier: MIT
#include "dist/net/http_client.h"

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <cstdlib>
#include <optional>

#include "base/sha256.h"
#include "tests/dist/net/fake.h"
#include "tests/dist/net/running.h"
#include "tests/support/wait_until.h"

namespace {

/// A resolver that a test can block for at most 20 seconds.
struct Names {
  std::mutex mutex;
  std::condition_variable changed;
  bool closed = false, gave_up = false;
  int waits = 0;

  void close(bool now) {
    const std::lock_guard lock(mutex);
    closed = now, gave_up = false;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    ++waits;
    gave_up = !changed.wait_for(lock, std::chrono::seconds(20), [&] { return !closed; });
    --waits;
  }
  int waiting() {
    const std::lock_guard lock(mutex);
    return waits;
  }
  bool still_closed() {
    const std::lock_guard lock(mutex);
    return closed && !gave_up;
  }
} names;

}  // namespace

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  static const auto real =
      reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  names.wait();
  return real(host, service, hints, found);
}

namespace kaiseki::test {
namespace {

WireOptions to(const std::string& url, double silence = 5) {
  return {
      .url = parse_coordinator_url(url), .token = "author", .certificates = {}, .silence = silence};
}

TEST_CASE("http client: times out if no bytes come") {
  std::optional<Fake> silent(std::in_place, [](int socket) {
    while (!Fake::head(socket).empty()) {
    }
  });
  HttpClient client(to(silent->url, 0.2));
  CHECK(has(error_of([&] { client.request("GET", "/blobs/x"); }), "no answer of 127.0.0.1"));
  silent.reset();
  CHECK(has(error_of([&] { client.request("GET", "/blobs/x"); }), "/blobs/x"));
}

TEST_CASE("http client: bodies are complete and within their limit, over one connection") {
  Running at;
  HttpClient client(to(at.server.url()));
  const std::string content(300000, 'x');
  const BlobHash hash = sha256(bytes(content));
  CHECK(client.request("PUT", "/blobs/" + hash, bytes(content)).status == 201);
  const HttpReply reply = client.request("GET", "/blobs/" + hash, {}, 300000);
  CHECK(reply.status == 200);
  CHECK(text(reply.body) == content);
  CHECK(client.request("GET", "/blobs/x").status == 404);
  size_t connections = 0;
  at.on([&] { connections = at.server.connections(); });
  CHECK(connections == 1);
  CHECK(!error_of([&] { client.request("GET", "/blobs/" + hash, {}, 299999); }).empty());
  CHECK(client.request("GET", "/healthz").status == 200);
}

TEST_CASE("http client: cancel() ends a follow() that waits, and later calls work") {
  std::optional<HttpClient> client;
  Fake fake([&](int socket) {
    Fake::head(socket);
    if (fake.connections == 1) {
      client->cancel();
      Fake::head(socket);
    } else {
      Fake::say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na\n");
    }
  });
  client.emplace(to(fake.url, 60));
  const auto take = [](std::string_view) { return true; };
  CHECK(!error_of([&] { client->follow("/", take); }).empty());
  CHECK(client->follow("/", take) == 200);
  client.reset();
}

TEST_CASE("http client: follow() reads lines until the end") {
  Running at;
  TaskId task = 0;
  at.on([&] { task = at.task("f", 1); });
  HttpClient client(to(at.server.url()));
  const std::string path = "/api/tasks/" + std::to_string(task) + "/results?follow=1";
  CHECK(client.follow("/api/tasks/99/results", [](std::string_view) {
    FAIL("nothing is there");
    return true;
  }) == 404);
  std::string heard;
  std::thread node([&] {
    Peer* peer = nullptr;
    at.on([&] { peer = &at.join("f"); });
    std::optional<Frame> given;
    while (!given) at.on([&] { given = peer->last(FrameType::ticket); });
    at.on([&] {
      Json control = Json::object();
      peer->say(FrameType::result, control.set("token", given->control.find("token")->string),
                given->ticket, "seven");
    });
  });
  CHECK(client.follow(path, [&](std::string_view line) {
    heard += line;
    return true;
  }) == 200);
  node.join();
  CHECK(has(heard, "\"result\": \"seven\""));
  client.close();
  CHECK(!error_of([&] { client.request("GET", "/healthz"); }).empty());
}

TEST_CASE("http client: lines keep a follow() alive, empty ones too; silence ends it") {
  Fake fake([](int socket) {
    Fake::head(socket);
    Fake::say(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 6; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // a slow server
      Fake::say(socket, "1\r\n\n\r\n");
    }
    Fake::head(socket);
  });
  HttpClient client(to(fake.url, 0.9));
  int lines = 0;
  const auto count = [&](std::string_view) { return ++lines > 0; };
  CHECK(has(error_of([&] { client.follow("/", count); }), "time-out"));
  CHECK(lines == 6);
}

TEST_CASE(
    "http client: if `take` returns false, the connection is kept only if the body ends soon") {
  for (const bool ends : {true, false}) {
    Fake fake([&](int socket) {
      while (!Fake::head(socket).empty()) {
        Fake::say(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na\nb\n\r\n");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a slow server
        if (ends) Fake::say(socket, "0\r\n\r\n");
      }
    });
    HttpClient client({.url = parse_coordinator_url(fake.url), .token = ""});
    for (int i = 0; i < 2; ++i) {
      std::string taken;
      const auto take = [&](std::string_view line) { return (taken += line).empty(); };
      CHECK(client.follow("/", take) == 200);
      CHECK(taken == "a");
    }
    CHECK(fake.connections == (ends ? 1 : 2));
  }
}

TEST_CASE("http client: the answer to a refused large body is read, though the server hangs up") {
  Fake fake([](int socket) {
    const std::string head = Fake::head(socket);
    Fake::say(
        socket,
        "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 8\r\n\r\ntoo much");
    const linger at_once{1, 0};  // a reset, as for unread bytes
    if (!has(head, "Expect: 100-continue"))
      ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  });
  HttpClient client(to(fake.url));
  const HttpReply reply = client.request("PUT", "/blobs/x", ByteVector(16 << 20));
  CHECK(reply.status == 413);
  CHECK(text(reply.body) == "too much");
}

TEST_CASE("http client: large bodies are sent after 100 Continue, over one connection") {
  Running at;
  HttpClient client(to(at.server.url()));
  const ByteVector content(3 << 20, std::byte{7});
  for (int i = 0; i < 2; ++i) {
    const int status = client.request("PUT", "/blobs/" + sha256(content), content).status;
    CHECK(status == (i == 0 ? 201 : 200));
  }
  CHECK(client.request("PUT", "/blobs/" + std::string(64, '0'), content).status == 422);
  CHECK(client.request("GET", "/blobs/" + sha256(content)).body == content);
  CHECK(has(at.metrics.text({}, {}), "kaiseki_connections_total 1\n"));
}

TEST_CASE("http client: a large body is sent after a second without 100 Continue") {
  for (const std::string late : {"", "HTTP/1.1 100 Continue\r\n\r\n"}) {
    std::atomic<size_t> taken = 0;
    Fake fake([&](int socket) {
      for (size_t left = 3 << 20; !Fake::head(socket).empty(); left = 3 << 20) {
        std::vector<char> some(1 << 16);
        while (left > 0) {
          const ssize_t count = ::recv(socket, some.data(), std::min(some.size(), left), 0);
          if (count <= 0) return;
          left -= static_cast<size_t>(count), taken += static_cast<size_t>(count);
        }
        Fake::say(socket, late + "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok");
      }
    });
    HttpClient client(to(fake.url));
    for (int i = 0; i < 2; ++i) {
      const HttpReply reply = client.request("PUT", "/blobs/x", ByteVector(3 << 20));
      CHECK(reply.status == 201);
      CHECK(text(reply.body) == "ok");
    }
    CHECK(taken == 6 << 20);
    CHECK(fake.connections == 1);
  }
}

TEST_CASE("http client: a request that timed out is not repeated") {
  Fake fake([](int socket) {
    Fake::head(socket);
    Fake::say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    while (!Fake::head(socket).empty()) {
    }
  });
  HttpClient client(to(fake.url, 0.3));
  CHECK(client.request("GET", "/").status == 200);
  CHECK(has(error_of([&] { client.request("GET", "/"); }), "no answer"));
  CHECK(fake.connections == 1);
}

TEST_CASE("http client: a request is repeated over a new connection if the kept one was closed") {
  Fake fake([](int socket) {
    Fake::head(socket);
    Fake::say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  HttpClient client({.url = parse_coordinator_url(fake.url), .token = ""});
  for (int i = 0; i < 3; ++i) CHECK(client.request("GET", "/").status == 200);
  CHECK(fake.connections == 3);
}

TEST_CASE("http client: over a new connection the token waits for another proof") {
  std::atomic<bool> is_coordinator = true;
  std::string heard;
  Fake fake([&](int socket) {
    if (is_coordinator.exchange(false)) {
      CHECK(has(Fake::head(socket), "Bearer author"));
      Fake::say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    } else {  // another program has the port now
      heard += Fake::one_head(socket);
      Fake::say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    }
  });
  HttpClient client(to(fake.url));
  CHECK(client.request("GET", "/").status == 200);
  CHECK(client.request("GET", "/").status == 401);
  CHECK(has(heard, "GET /proof"));
  CHECK(!has(heard, "Bearer"));
}

TEST_CASE("http client: a POST is never sent twice, other requests are") {
  for (const std::string method : {"POST", "PUT"}) {
    std::atomic<int> asked = 0;
    Fake fake([&](int socket) {
      for (std::string head; !(head = Fake::head(socket)).empty();) {
        if (head.starts_with(method) && ++asked == 1) return;  // closes without an answer
        Fake::say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      }
    });
    HttpClient client(to(fake.url));
    CHECK(client.request("GET", "/").status == 200);
    if (method == "POST") {
      CHECK(has(error_of([&] { client.request(method, "/x"); }), "no answer"));
      CHECK(asked == 1);
    } else {
      CHECK(client.request(method, "/x").status == 200);
      CHECK(asked == 2);
    }
  }
}

TEST_CASE("http client: redirects are not followed, and a proxy of the environment is not used") {
  std::string head;
  Fake fake([&](int socket) {
    head = Fake::head(socket);
    Fake::say(socket,
              "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  });
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  HttpClient client(to(fake.url));
  CHECK(client.request("GET", "/a b?c#d").status == 302);
  ::unsetenv("http_proxy");
  CHECK(fake.connections == 1);
  CHECK(head.starts_with("GET /a b?c#d HTTP/1.1\r\n"));
  CHECK(has(head, "Host: " + fake.url.substr(7) + "\r\n"));
  CHECK(has(head, "Authorization: Bearer author\r\n"));
}

TEST_CASE("http client: the size of an answer's head is limited") {
  Fake fake([](int socket) {
    Fake::head(socket);
    Fake::say(socket, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 100; ++i) Fake::say(socket, "X: " + std::string(1000, 'x') + "\r\n");
    Fake::say(socket, "Content-Length: 2\r\n\r\nok");
  });
  HttpClient client(to(fake.url));
  CHECK(has(error_of([&] { client.request("GET", "/"); }), "head of the answer is too large"));
}

TEST_CASE("http client: follow() throws what `take` throws") {
  Fake fake([](int socket) {
    Fake::head(socket);
    Fake::say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na\n");
  });
  HttpClient client(to(fake.url));
  CHECK(error_of([&] {
          client.follow("/", [](std::string_view) -> bool { throw Error("enough"); });
        }) == "enough");
}

TEST_CASE("http client: times out while it resolves a name") {
  names.close(true);
  {
    HttpClient client(to("http://pool.invalid:1", 0.2));
    CHECK(has(error_of([&] { client.request("GET", "/x"); }), "no answer of pool.invalid:1"));
    CHECK(names.still_closed());
    HttpClient other(to("http://pool.invalid:1", 60));
    const int before = names.waiting();
    std::thread closes([&] {
      wait_until([&] { return names.waiting() > before; });
      other.close();
    });
    CHECK(!error_of([&] { other.request("GET", "/x"); }).empty());
    CHECK(names.still_closed());
    closes.join();
    names.close(false);
  }
  HttpClient client(to("http://pool.invalid:1"));
  CHECK(has(error_of([&] { client.request("GET", "/x"); }), "no answer of pool.invalid:1"));
}

TEST_CASE("http client: TLS connects to trusted servers only") {
  const Folder folder;
  ServerOptions how;
  how.certificate = (folder / "cert.pem").string();
  how.key = (folder / "key.pem").string();
  how.limits.blob_bytes = 2 << 20;
  const std::string make =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout " +
      how.key + " -out " + how.certificate + " 2>" + (folder / "said").string();
  REQUIRE(std::system(make.c_str()) == 0);
  Running at({}, how);
  WireOptions knows = to(at.server.url());
  CHECK(knows.url.tls);
  WireOptions stranger = knows, other = knows;
  knows.certificates = other.certificates = how.certificate;
  HttpClient client(knows);
  for (const size_t size : {size_t{300000}, size_t{1500000}}) {
    const ByteVector content(size, std::byte{7});
    const BlobHash hash = sha256(content);
    CHECK(client.request("PUT", "/blobs/" + hash, content).status == 201);
    CHECK(client.request("GET", "/blobs/" + hash).body == content);
  }
  CHECK(has(at.metrics.text({}, {}), "kaiseki_connections_total 1\n"));
  const ByteVector large(3 << 20);
  const HttpReply refused = client.request("PUT", "/blobs/" + sha256(large), large);
  CHECK(refused.status == 413);
  CHECK(has(text(refused.body), "at most 2097152 bytes"));
  CHECK(client.request("GET", "/healthz").status == 200);

  WireOptions broken = knows;
  broken.certificates = how.key;
  HttpClient unable(broken);
  CHECK(has(error_of([&] { unable.request("GET", "/healthz"); }),
            "expected certificates in PEM format in " + how.key));

  HttpClient none(stranger);
  CHECK_THROWS_WITH_AS(none.request("GET", "/healthz"), doctest::Contains("certificate"),
                       UntrustedCertificate);
  other.url.host = "localhost";  // the certificate has another name
  HttpClient elsewhere(other);
  CHECK(has(error_of([&] { elsewhere.request("GET", "/healthz"); }), "certificate"));
}

}  // namespace
}  // namespace kaiseki::test
