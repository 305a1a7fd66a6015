// SPDX-License-Identifier: MIT
// HTTP requests and responses as plain values, without sockets.
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
  std::string address;  // of the peer, as NodeLink::address()
  std::string local;    // the address that the peer connected to, if kProofPath is asked for

  /// Empty if the header is missing.
  const std::string& header(const std::string& name) const;
  std::string parameter(const std::string& name, const std::string& otherwise = {}) const;
};

/// A chunk of a body: bytes, no bytes yet (`wait`), or the end.
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
  std::optional<uint64_t> length = {};   // bytes that `next` returns, if known
  std::string alive = {};                // sent every few seconds while `next` returns `wait`

  bool has_header(std::string_view name) const;

  static HttpResponse json(std::string body, int status = 200);
  /// Several responses share the text. A large text is sent in chunks, so no connection copies all
  /// of it.
  static HttpResponse shared(std::shared_ptr<const std::string> text, std::string type);
  /// {"error": "..."}
  static HttpResponse problem(int status, std::string_view what);
};

/// Splits "/a%20b?c=d" into path and query. Returns false if an escape is invalid.
bool parse_target(std::string_view target, HttpRequest& request);

/// Reads "bytes=0-99" for a body of `size` bytes. Returns the first byte and the count. Returns
/// nullopt if the header has several ranges or another unit. The count is 0 beyond the end.
std::optional<std::pair<uint64_t, uint64_t>> parse_range(std::string_view header, uint64_t size);

/// Whether the value of an Accept-Encoding header has the coding, and not with "q=0".
bool accepts_coding(std::string_view header, std::string_view coding);

std::string_view status_text(int status);

/// Whether the request has "Bearer TOKEN" with this token. Compares in constant time.
bool has_bearer(const HttpRequest& request, std::string_view token);

}  // namespace kaiseki::dist
