// SPDX-License-Identifier: MIT
#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/error.h"

namespace kaiseki {
namespace {

constexpr int kMaxDepth = 64;
constexpr int kMaxValues = 200'000;

class Parser {
 public:
  Parser(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  Json document() {
    take(std::string_view("\xEF\xBB\xBF"));  // a byte order mark, which some editors write
    Json value = parse(0);
    skip_space();
    if (at_ < text_.size()) fail("the end of the text");
    return value;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    const size_t line = 1 + std::count(text_.begin(), text_.begin() + at_, '\n');
    std::string got = "the end of the text";
    if (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      got =
          c > 32 && c < 127 ? "'" + std::string(1, text_[at_]) + "'" : "byte " + std::to_string(c);
    }
    throw ParseError(source_, "line " + std::to_string(line),
                     "expected " + std::string(expected) + ", got " + got);
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json parse(int depth) {
    if (depth > kMaxDepth) fail("at most 64 levels");
    if (++values_ > kMaxValues) fail("at most 200000 values");
    switch (peek()) {
      case '{':
        ++at_;
        return peek() == '{' ? list('}', depth) : object(depth);
      case '[':
        ++at_;
        return list(']', depth);
      case '"':
        return Json(string());
      default:
        break;
    }
    if (take("true")) return Json(true);
    if (take("false")) return Json(false);
    if (take("null")) return Json();
    return number();
  }

  Json list(char end, int depth) {
    Json value = Json::array();
    if (take(end)) return value;
    do value.items.push_back(parse(depth + 1));
    while (take(','));
    if (!take(end)) fail(std::string("',' or '") + end + "'");
    return value;
  }

  Json object(int depth) {
    Json value = Json::object();
    if (take('}')) return value;
    std::set<std::string, std::less<>> seen;
    do {
      if (peek() != '"') fail("a key in quotes");
      std::string key = string();
      if (!seen.insert(key).second) fail("the key \"" + key + "\" once only");
      if (!take(':')) fail("':'");
      value.items.push_back(parse(depth + 1));
      value.keys.push_back(std::move(key));
    } while (take(','));
    if (!take('}')) fail("',' or '}'");
    return value;
  }

  Json number() {
    const char* first = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const char* digits = first < end && *first == '-' ? first + 1 : first;
    double value = 0;
    if (digits >= end || *digits < '0' || *digits > '9') fail("a value");
    auto [last, error] = std::from_chars(first, end, value);
    if (error != std::errc() || !std::isfinite(value)) fail("a number in the range of a double");
    if (*digits == '0' && digits + 1 < last && digits[1] >= '0' && digits[1] <= '9')
      fail("a number without a leading zero");
    at_ += static_cast<size_t>(last - first);
    return Json(value);
  }

  std::string string() {
    ++at_;
    std::string value;
    for (;;) {
      const size_t end = text_.find_first_of("\"\\\n", at_);
      if (end == text_.npos || text_[end] == '\n') {
        at_ = std::min(end, text_.size());
        fail("the end of a string");
      }
      value.append(text_, at_, end - at_);
      at_ = end + 1;
      if (text_[end] == '"') return value;
      escape(value);
    }
  }

  void escape(std::string& into) {
    constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (const size_t i = from.find(c); i != from.npos) {
      ++at_;
      into += to[i];
    } else if (c == 'u') {
      uint32_t code = unit();
      if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
        ++at_;
        const uint32_t low = unit();
        if (low < 0xDC00 || low > 0xDFFF) fail("the second half of a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      }
      if (code >= 0xD800 && code < 0xE000) fail("a whole surrogate pair");
      append_utf8(code, into);
    } else {
      fail("an escape such as \\n");
    }
  }

  uint32_t unit() {
    uint32_t code = 0;
    ++at_;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      const size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 32));
      if (digit == std::string_view::npos || c < '0') fail("four hexadecimal digits");
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return code;
  }

  static void append_utf8(uint32_t code, std::string& into) {
    if (code < 0x80) {
      into += static_cast<char>(code);
      return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    into += static_cast<char>(lead[more] | code >> (6 * more));
    for (int i = more - 1; i >= 0; --i) into += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
  }

  std::string_view text_, source_;
  size_t at_ = 0;
  int values_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view source) {
  return Parser(text, source).document();
}

}  // namespace kaiseki
