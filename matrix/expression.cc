// SPDX-License-Identifier: MIT
// The parser of elementwise expressions, by recursive descent. Equal subexpressions become one
// value. Parsed expressions are cached; the oldest are evicted first.
#include "matrix/expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <tuple>

#include "base/error.h"

namespace kaiseki {
namespace {

using Code = Expression::Code;

constexpr size_t kMaxText = 1 << 16;
constexpr size_t kMaxCached = 1024;
constexpr int kMaxDepth = 200;

struct Function {
  std::string_view name;
  Code code;
  int arguments;
};

constexpr Function kFunctions[] = {
    {"abs", Code::absolute, 1},
    {"ceil", Code::ceiling, 1},
    {"cos", Code::cosine, 1},
    {"exp", Code::exponential, 1},
    {"floor", Code::floor, 1},
    {"isnan", Code::is_nan, 1},
    {"log", Code::logarithm, 1},
    {"max", Code::maximum, 2},
    {"min", Code::minimum, 2},
    {"pow", Code::power, 2},
    {"round", Code::round, 1},
    {"rsqrt", Code::reciprocal_square_root, 1},
    {"sigmoid", Code::logistic, 1},
    {"sign", Code::sign, 1},
    {"sin", Code::sine, 1},
    {"sqrt", Code::square_root, 1},
    {"tanh", Code::hyperbolic_tangent, 1},
};

const Function* find_function(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

struct Operator {
  std::string_view text;
  Code code;
};
constexpr Operator kComparisons[] = {{"<=", Code::less_equal}, {">=", Code::greater_equal},
                                     {"==", Code::equal},      {"!=", Code::not_equal},
                                     {"<", Code::less},        {">", Code::greater}};
constexpr Operator kSums[] = {{"+", Code::add}, {"-", Code::subtract}};
constexpr Operator kProducts[] = {{"*", Code::multiply}, {"/", Code::divide}};

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const std::vector<std::string>& scalar_names)
      : text_(text), scalar_names_(scalar_names) {}

  Expression run() {
    if (text_.size() > kMaxText) fail("expected a text of at most 65536 characters");
    result_.text_ = text_;
    do {
      statement();
    } while (accept(";") && !at_end());
    if (!at_end()) fail("expected an operator, ';' or the end");
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(std::string_view expected) {
    std::string got = at_end() ? "the end" : "'" + std::string(1, text_[place_]) + "'";
    throw Error(message("expression", expected, ", got ", got, " at column ", place_ + 1, " of '",
                        text_.substr(0, 200), text_.size() > 200 ? "..." : "", "'"));
  }

  [[noreturn]] void fail_at(size_t place, std::string_view expected) {
    place_ = place;
    fail(expected);
  }

  void skip_space() {
    while (place_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[place_])))
      ++place_;
  }

  bool at_end() {
    skip_space();
    return place_ == text_.size();
  }

  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(place_).starts_with(token)) return false;
    place_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "'");
  }

  int emit(Code code, int a = -1, int b = -1, int c = -1, float value = 0) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    auto [it, added] = known_.try_emplace({code, a, b, c, bits}, result_.program_.size());
    if (added) result_.program_.push_back({code, a, b, c, value});
    return it->second;
  }

  std::string_view name() {
    skip_space();
    size_t first = place_;
    while (place_ < text_.size() && (starts_name(text_[place_]) || is_digit(text_[place_])))
      ++place_;
    return text_.substr(first, place_ - first);
  }

  bool is_scalar(std::string_view name) const {
    return std::find(scalar_names_.begin(), scalar_names_.end(), name) != scalar_names_.end();
  }

  void statement() {
    skip_space();
    size_t start = place_;
    std::string_view target = name();
    bool assigns = !target.empty() && !is_digit(target[0]) && !accept("==") && accept("=");
    if (!assigns) {
      place_ = start;
      if (!result_.outputs_.empty()) fail("expected an assignment");
      result_.outputs_.push_back({"", expression()});
      bare_ = true;
      return;
    }
    if (bare_) fail_at(start, "expected one expression or only assignments");
    if (find_function(target)) fail_at(start, "expected a name that is not a function's");
    if (is_scalar(target)) fail_at(start, "expected a tensor's name to assign to");
    int value = expression();
    for (auto& output : result_.outputs_)
      if (output.name == target) {
        output.value = value;
        return;
      }
    result_.outputs_.push_back({std::string(target), value});
  }

  int expression() {
    if (++depth_ > kMaxDepth) fail("expected at most 200 levels of nesting");
    int condition = comparison();
    int value = condition;
    if (accept("?")) {
      int yes = expression();
      expect(":");
      value = emit(Code::select, condition, yes, expression());
    }
    --depth_;
    return value;
  }

  template <size_t N, class Operand>
  int left_associative(const Operator (&operators)[N], Operand operand) {
    int value = operand();
    for (;;) {
      const Operator* found = std::find_if(std::begin(operators), std::end(operators),
                                           [&](const Operator& o) { return accept(o.text); });
      if (found == std::end(operators)) return value;
      value = emit(found->code, value, operand());
    }
  }

  int comparison() {
    return left_associative(kComparisons, [&] { return sum(); });
  }
  int sum() {
    return left_associative(kSums, [&] { return product(); });
  }
  int product() {
    return left_associative(kProducts, [&] { return unary(); });
  }

  int unary() {
    if (!accept("-")) return accept("+") ? unary_operand() : primary();
    return emit(Code::negate, unary_operand());
  }

  int unary_operand() {
    if (++depth_ > kMaxDepth) fail("expected at most 200 levels of nesting");
    int value = unary();
    --depth_;
    return value;
  }

  int primary() {
    if (accept("(")) {
      int value = expression();
      expect(")");
      return value;
    }
    if (at_end()) fail("expected a value");
    char c = text_[place_];
    if (is_digit(c) || c == '.') return number();
    if (!starts_name(c)) fail("expected a value");
    size_t start = place_;
    std::string_view word = name();
    if (accept("(")) return call(word, start);
    if (find_function(word)) fail("expected '(' after the function's name");
    for (const auto& output : result_.outputs_)
      if (output.name == word) return output.value;
    return variable(word);
  }

  int number() {
    size_t start = place_;
    auto digits = [&] {
      size_t first = place_;
      while (place_ < text_.size() && is_digit(text_[place_])) ++place_;
      return place_ - first;
    };
    size_t count = digits();
    if (place_ < text_.size() && text_[place_] == '.') {
      ++place_;
      count += digits();
    }
    if (count == 0) fail_at(start, "expected a number");
    if (place_ < text_.size() && (text_[place_] == 'e' || text_[place_] == 'E')) {
      ++place_;
      if (place_ < text_.size() && (text_[place_] == '+' || text_[place_] == '-')) ++place_;
      if (digits() == 0) fail("expected the digits of an exponent");
    }
    if (place_ < text_.size() && starts_name(text_[place_])) fail("expected the end of the number");
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + start, text_.data() + place_, value);
    if (error != std::errc() || value > 3.4028234663852886e38)
      fail_at(start, "expected a number that a float can hold");
    return emit(Code::constant, -1, -1, -1, static_cast<float>(value));
  }

  int call(std::string_view word, size_t start) {
    const Function* function = find_function(word);
    if (!function) fail_at(start, "expected a function's name, got " + std::string(word));
    int arguments[2] = {-1, -1};
    for (int i = 0; i < function->arguments; ++i) {
      if (i) expect(",");
      arguments[i] = expression();
    }
    expect(")");
    return emit(function->code, arguments[0], arguments[1]);
  }

  int variable(std::string_view word) {
    bool scalar = is_scalar(word);
    auto& names = scalar ? result_.scalars_ : result_.inputs_;
    auto it = std::find(names.begin(), names.end(), word);
    int index = static_cast<int>(it - names.begin());
    if (it == names.end()) names.emplace_back(word);
    return emit(scalar ? Code::scalar : Code::input, index);
  }

  std::string_view text_;
  const std::vector<std::string>& scalar_names_;
  Expression result_;
  std::map<std::tuple<Code, int, int, int, uint32_t>, int> known_;
  size_t place_ = 0;
  int depth_ = 0;
  bool bare_ = false;
};

std::shared_ptr<const Expression> Expression::parse(std::string_view text,
                                                    const std::vector<std::string>& scalar_names) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Expression>, std::less<>> cache;
  static std::deque<std::string> order;
  std::string key(text);
  std::vector<std::string> sorted = scalar_names;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& name : sorted) (key += '\0') += name;
  {
    std::lock_guard lock(mutex);
    if (auto it = cache.find(key); it != cache.end()) return it->second;
  }
  auto parsed = std::make_shared<const Expression>(ExpressionParser(text, scalar_names).run());
  std::lock_guard lock(mutex);
  auto [it, added] = cache.try_emplace(key, std::move(parsed));
  auto result = it->second;
  if (added) order.push_back(std::move(key));
  if (order.size() > kMaxCached) {
    cache.erase(order.front());
    order.pop_front();
  }
  return result;
}

}  // namespace kaiseki
