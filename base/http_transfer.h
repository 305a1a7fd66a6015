// SPDX-License-Identifier: MIT
// HttpTransfer: an HTTP/1.1 client over libcurl. It sends one request after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kaiseki {

/// The result of HttpCall::receive. After `enough` the rest of the body is discarded. The
/// connection stays open only if the rest ends within 0.2 s. `refuse` closes the connection
/// immediately.
enum class HttpWant { more, enough, refuse };

/// The connection that a request goes over.
struct HttpPeer {
  std::string address;  // of the server, such as "127.0.0.1" or "::1"
  int local_port = 0;
};

struct HttpCall {
  std::string url;          // http or https
  std::string target = {};  // of the request line, sent unchanged; empty: that of the URL
  std::string method = "GET";
  std::vector<std::string> headers = {};  // "Name: value"
  std::span<const std::byte> body = {};
  std::string certificates = {};  // PEM file that TLS trusts; empty: the system's
  int redirects = 0;              // the most redirects to follow; if 0, a 302 is an answer
  bool proxy = false;             // use the proxy that the environment names
  /// If the server closed a kept connection without an answer, the request is sent once more over a
  /// new connection.
  bool again = true;
  double connect_seconds = 60;  // until the connection is open
  double silence_seconds = 60;  // without a byte in either direction
  /// Called before a request is sent. If it returns false, the connection is closed without the
  /// request.
  std::function<bool(const HttpPeer& peer)> may_send = {};
  /// Gets a part of the body of the last answer.
  std::function<HttpWant(int status, std::span<const std::byte> piece)> receive = {};
};

enum class HttpEnd {
  whole,            // the answer has ended
  enough,           // receive() returned `enough`
  refused,          // receive() returned `refuse`
  silent,           // no byte in either direction for silence_seconds
  cancelled,        // cancel() or close()
  untrusted,        // TLS does not trust the server
  no_certificates,  // the file of certificates cannot be read
  failed,
};

struct HttpOutcome {
  HttpEnd end = HttpEnd::failed;
  std::optional<int> status;  // of the answer, if there is one
  std::string problem;        // the error, empty if `end` is whole or enough
};

/// Use it in one thread, except cancel() and close(). Keeps its connection between calls.
class HttpTransfer {
 public:
  HttpTransfer();
  ~HttpTransfer();

  /// Throws the exceptions of `receive`, and std::bad_alloc if libcurl cannot start.
  HttpOutcome run(const HttpCall& call);
  /// Any thread may call these. The current call, if any, ends. After close(), later calls end too.
  void cancel();
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki
