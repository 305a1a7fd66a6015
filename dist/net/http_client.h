// SPDX-License-Identifier: MIT
// HttpClient: requests to a coordinator over one persistent connection.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "dist/net/wire.h"

namespace kaiseki::dist {

struct HttpReply {
  int status = 0;
  ByteVector body = {};
};

/// Over plain HTTP a token is sent only after the coordinator proved on the same connection that it
/// knows it. If it knows other tokens only, the status is 401. Use it in one thread, except
/// cancel() and close(). A call throws Error if it cannot connect, or if no bytes come for
/// `silence` seconds. It also throws Error if the body exceeds `most` bytes.
class HttpClient {
 public:
  explicit HttpClient(WireOptions to);
  ~HttpClient();

  HttpReply request(const std::string& method, const std::string& path, ByteView body = {},
                    uint64_t most = uint64_t{1} << 30);
  /// Passes each line of a GET's body to `take` as it comes, without its line end. Ends with the
  /// body, or if `take` returns false. A coordinator sends empty lines to keep the connection
  /// alive. Returns the status. If it is not 200, `take` was not called.
  int follow(const std::string& path, const std::function<bool(std::string_view line)>& take);
  /// Call these from any thread. The current call, if any, throws Error. After close(), all later
  /// calls throw, too.
  void cancel();
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
