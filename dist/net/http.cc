// SPDX-License-Identifier: MIT
#include "dist/net/http.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kPieceBytes = 64 << 10;  // of a shared text
constexpr std::string_view kSpace = " \t";

std::optional<int> hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool unescape(std::string_view text, bool plus, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return false;
      const auto high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (!high || !low) return false;
      out += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      out += plus && text[i] == '+' ? ' ' : text[i];
    }
  }
  return true;
}

}  // namespace

const std::string& HttpRequest::header(const std::string& name) const {
  static const std::string none;
  const auto found = headers.find(name);
  return found == headers.end() ? none : found->second;
}

std::string HttpRequest::parameter(const std::string& name, const std::string& otherwise) const {
  const auto found = query.find(name);
  return found == query.end() ? otherwise : found->second;
}

HttpResponse HttpResponse::json(std::string body, int status) {
  return {.status = status, .type = "application/json", .body = std::move(body) + "\n"};
}

bool HttpResponse::has_header(std::string_view name) const {
  return std::ranges::any_of(headers, [&](const auto& one) { return one.first == name; });
}

HttpResponse HttpResponse::shared(std::shared_ptr<const std::string> text, std::string type) {
  HttpResponse response{.type = std::move(type)};
  if (text->size() <= kPieceBytes) {
    response.body = *text;
    return response;
  }
  response.length = text->size();
  response.next = [text = std::move(text), at = size_t{0}]() mutable -> HttpChunk {
    if (at == text->size()) return {};
    HttpChunk chunk{HttpChunk::Kind::bytes, text->substr(at, kPieceBytes)};
    at += chunk.bytes.size();
    return chunk;
  };
  return response;
}

HttpResponse HttpResponse::problem(int status, std::string_view what) {
  Json error = Json::object();
  error.set("error", std::string(what));
  return json(format_json_line(error), status);
}

bool parse_target(std::string_view target, HttpRequest& request) {
  const size_t mark = std::min(target.find('?'), target.size());
  if (!target.starts_with('/') || !unescape(target.substr(0, mark), false, request.path))
    return false;
  std::string_view rest = target.substr(std::min(mark + 1, target.size()));
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string name, value;
    if (!unescape(pair.substr(0, equals), true, name) ||
        !unescape(pair.substr(std::min(equals + 1, pair.size())), true, value))
      return false;
    request.query[name] = value;
    rest = rest.substr(std::min(end + 1, rest.size()));
  }
  return request.path.find('\0') == std::string::npos;
}

std::optional<std::pair<uint64_t, uint64_t>> parse_range(std::string_view header, uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return {};
  header.remove_prefix(kUnit.size());
  const size_t dash = header.find('-');
  if (dash == header.npos) return {};
  const std::string_view first_text = header.substr(0, dash), last_text = header.substr(dash + 1);
  const auto first = parse_number<uint64_t>(first_text), last = parse_number<uint64_t>(last_text);
  if (first_text.empty()) {
    if (!last) return {};
    const uint64_t count = std::min(*last, size);
    return std::pair{size - count, count};
  }
  if (!first || (!last && !last_text.empty()) || (last && *last < *first)) return {};
  if (*first >= size) return std::pair{uint64_t{0}, uint64_t{0}};
  const uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return std::pair{*first, end - *first + 1};
}

bool accepts_coding(std::string_view header, std::string_view coding) {
  while (!header.empty()) {
    std::string_view one = header.substr(0, header.find(','));
    header.remove_prefix(std::min(header.size(), one.size() + 1));
    const std::string_view weight = one.find(';') == one.npos ? "" : one.substr(one.find(';') + 1);
    if (trimmed(one.substr(0, one.find(';')), kSpace) != coding) continue;
    // "q=0", "q=0.0" and so on; but not "q=0.1"
    const std::string_view value = trimmed(weight, kSpace);
    return !value.starts_with("q=0") || value.find_first_of("123456789") != value.npos;
  }
  return false;
}

std::string_view status_text(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 304:
      return "Not Modified";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 416:
      return "Range Not Satisfiable";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    default:
      return "Internal Server Error";
  }
}

bool has_bearer(const HttpRequest& request, std::string_view token) {
  const std::string& given = request.header("authorization");
  const std::string expected = "Bearer " + std::string(token);
  unsigned different = given.size() != expected.size();
  for (size_t i = 0; i < expected.size(); ++i)
    different |= static_cast<unsigned char>(expected[i]) ^
                 static_cast<unsigned char>(i < given.size() ? given[i] : 0);
  return !token.empty() && different == 0;
}

}  // namespace kaiseki::dist
