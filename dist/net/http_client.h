// SPDX-License-Identifier: MIT
// HttpClient: requests to a coordinator over one connection, which stays open between them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "dist/net/wire.h"

namespace kaiseki::dist {

struct HttpReply {
  int status = 0;
  nn::ByteVector body = {};
};

/// Used by one thread, but for cancel() and close(). Every call throws Error when there is no
/// answer: it cannot connect, nothing comes for `silence` seconds, the body has more than `most`
/// bytes.
class HttpClient {
 public:
  explicit HttpClient(WireOptions to);
  ~HttpClient();

  HttpReply request(const std::string& method, const std::string& path, nn::ByteView body = {},
                    uint64_t most = uint64_t{1} << 30);
  /// Gives the lines of a GET's body as they come, without their ends, until it ends or `take` says
  /// false; empty ones are a coordinator's signs of life. The status; when it is not 200, nothing
  /// was given.
  int follow(const std::string& path, const std::function<bool(std::string_view line)>& take);
  /// From any thread: the call that is going on, if any, ends with an Error. close(): and those
  /// that come.
  void cancel();
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
