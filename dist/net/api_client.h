// SPDX-License-Identifier: MIT
// ApiClient: calls of a coordinator's HTTP API (docs/openapi.yaml) with JSON both ways.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "dist/net/http_client.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

/// The coordinator refuses a request. Repeating the request does not help.
class ApiRefused : public Error {
 public:
  ApiRefused(int status, const Message& message) : Error(message), status(status) {}
  const int status;  // of HTTP: 400 to 499 without 429
};

/// Use it in one thread. Every call throws AuthorLost if the coordinator does not answer. It also
/// throws AuthorLost for 429 and for 500 and above, because the same request may succeed later.
/// It throws ApiRefused for other statuses that are not 2xx.
class ApiClient {
 public:
  explicit ApiClient(const WireOptions& to) : client_(to) {}

  HttpReply request(const std::string& method, const std::string& path, ByteView body = {});
  /// The reply's body; null if it has none.
  Json ask(const std::string& method, const std::string& path, const Json& body = {});
  /// POSTs `body`, which makes something. Returns its number, which the reply has under `key`.
  int64_t make(const std::string& path, const Json& body, const std::string& key);

 private:
  HttpClient client_;
};

/// Passes the lines of a task's results after the sequence `after` to `take`, as
/// HttpClient::follow() does. Ends if no ticket is open. Throws Error, also for a status that is
/// not 200.
void follow_results(HttpClient& client, TaskId task, int64_t after,
                    const std::function<bool(std::string_view line)>& take);

}  // namespace kaiseki::dist
