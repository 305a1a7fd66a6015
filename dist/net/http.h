// SPDX-License-Identifier: MIT
// HTTP requests and responses as plain values: what the coordinator sees of the web.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kaiseki::dist {

struct HttpRequest {
  std::string method, path;
  std::map<std::string, std::string> query;    // decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string address;  // of the peer, as NodeLink's

  /// Empty when it is not there.
  const std::string& header(const std::string& name) const;
  std::string parameter(const std::string& name, const std::string& otherwise = {}) const;
};

/// A piece of a body: bytes, nothing yet (`wait`), or no more.
struct HttpChunk {
  enum class Kind : uint8_t { bytes, wait, end } kind = Kind::end;
  std::string bytes = {};
};

struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::function<HttpChunk()> next = {};  // instead of `body`, called until the end
  std::optional<uint64_t> length = {};   // bytes that `next` gives, where that is known
  std::string alive = {};                // goes out every few seconds while `next` says `wait`

  static HttpResponse json(std::string body, int status = 200);
  /// A text that several answers share: what is large of it goes out piece by piece, and no
  /// connection has a copy of the whole.
  static HttpResponse shared(std::shared_ptr<const std::string> text, std::string type);
  /// {"error": "..."}
  static HttpResponse problem(int status, std::string_view what);
};

/// Splits "/a%20b?c=d" into path and query. False when an escape is broken.
bool parse_target(std::string_view target, HttpRequest& request);

/// "bytes=0-99" of a body of `size` bytes: first byte and count. Nothing when the header says
/// nothing that we follow (several ranges, another unit); a count of 0 when it is beyond the end.
std::optional<std::pair<uint64_t, uint64_t>> parse_range(std::string_view header, uint64_t size);

std::string_view status_text(int status);

/// "Bearer TOKEN" with this token, compared in constant time.
bool has_bearer(const HttpRequest& request, std::string_view token);

}  // namespace kaiseki::dist
