// SPDX-License-Identifier: MIT
#include "dist/net/api_client.h"

#include "dist/net/author.h"
#include "dist/net/json_fields.h"

namespace kaiseki::dist {
namespace {

constexpr int kTooManyRequests = 429;

/// The reply's error text. A proxy's reply may be no JSON.
std::string reason_of(const HttpReply& reply) {
  try {
    return text_of(parse_json(as_text(reply.body), "reply"), "error");
  } catch (const ParseError&) {
    return {};
  }
}

}  // namespace

HttpReply ApiClient::request(const std::string& method, const std::string& path, ByteView body) {
  HttpReply reply;
  try {
    reply = client_.request(method, path, body);
  } catch (const Error& error) {
    throw AuthorLost(error.as_message());
  }
  if (reply.status >= 200 && reply.status < 300) return reply;
  const Message what =
      message("pool", method, " ", path, " got status ", reply.status, ": ", reason_of(reply));
  if (reply.status == kTooManyRequests || reply.status >= 500 || reply.status < 400)
    throw AuthorLost(what);
  throw ApiRefused(reply.status, what);
}

Json ApiClient::ask(const std::string& method, const std::string& path, const Json& body) {
  const std::string text = body.is(Json::Kind::null) ? std::string() : format_json_line(body);
  const HttpReply reply = request(method, path, as_bytes(text));
  if (reply.body.empty()) return {};
  try {
    return parse_json(as_text(reply.body), path);
  } catch (const ParseError& error) {
    throw AuthorLost(error.as_message());
  }
}

int64_t ApiClient::make(const std::string& path, const Json& body, const std::string& key) {
  const int64_t made = integer_of(ask("POST", path, body), key);
  if (made < 1) throw AuthorLost(message("pool", "expected a ", key, " of ", path, ", got none"));
  return made;
}

void follow_results(HttpClient& client, TaskId task, int64_t after,
                    const std::function<bool(std::string_view line)>& take) {
  const int status = client.follow(
      "/api/tasks/" + std::to_string(task) + "/results?follow=1&after=" + std::to_string(after),
      take);
  if (status != 200) throw Error(message("pool", "expected results, got status ", status));
}

}  // namespace kaiseki::dist
