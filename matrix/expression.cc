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
    {"acos", Code::arc_cosine, 1},
    {"acosh", Code::arc_hyperbolic_cosine, 1},
    {"asin", Code::arc_sine, 1},
    {"asinh", Code::arc_hyperbolic_sine, 1},
    {"atan", Code::arc_tangent, 1},
    {"atan2", Code::arc_tangent2, 2},
    {"atanh", Code::arc_hyperbolic_tangent, 1},
    {"bool", Code::to_bool, 1},
    {"cbrt", Code::cube_root, 1},
    {"ceil", Code::ceiling, 1},
    {"clamp", Code::minimum, 3},
    {"cos", Code::cosine, 1},
    {"cosh", Code::hyperbolic_cosine, 1},
    {"erf", Code::error_function, 1},
    {"erfc", Code::complementary_error_function, 1},
    {"exp", Code::exponential, 1},
    {"exp2", Code::exponential_2, 1},
    {"expm1", Code::exponential_m1, 1},
    {"f32", Code::to_f32, 1},
    {"floor", Code::floor, 1},
    {"fmod", Code::remainder, 2},
    {"hypot", Code::hypotenuse, 2},
    {"i32", Code::to_i32, 1},
    {"isfinite", Code::is_finite, 1},
    {"isinf", Code::is_infinite, 1},
    {"isnan", Code::is_nan, 1},
    {"log", Code::logarithm, 1},
    {"log10", Code::logarithm_10, 1},
    {"log1p", Code::logarithm_1p, 1},
    {"log2", Code::logarithm_2, 1},
    {"max", Code::maximum, 2},
    {"min", Code::minimum, 2},
    {"pow", Code::power, 2},
    {"round", Code::round, 1},
    {"rsqrt", Code::reciprocal_square_root, 1},
    {"sigmoid", Code::logistic, 1},
    {"sign", Code::sign, 1},
    {"sin", Code::sine, 1},
    {"sinh", Code::hyperbolic_sine, 1},
    {"sqrt", Code::square_root, 1},
    {"tan", Code::tangent, 1},
    {"tanh", Code::hyperbolic_tangent, 1},
    {"trunc", Code::truncate, 1},
    {"u8", Code::to_u8, 1},
    {"where", Code::select, 3},
};

const Function* find_function(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

struct Operator {
  std::string_view text;
  Code code;
  int level;  // higher levels bind tighter
};
// An operator that begins with another operator comes first.
constexpr Operator kOperators[] = {{"||", Code::logical_or, 0},    {"&&", Code::logical_and, 1},
                                   {"|", Code::bit_or, 2},         {"^", Code::bit_xor, 3},
                                   {"&", Code::bit_and, 4},        {"==", Code::equal, 5},
                                   {"!=", Code::not_equal, 5},     {"<<", Code::shift_left, 7},
                                   {">>", Code::shift_right, 7},   {"<=", Code::less_equal, 6},
                                   {">=", Code::greater_equal, 6}, {"<", Code::less, 6},
                                   {">", Code::greater, 6},        {"+", Code::add, 8},
                                   {"-", Code::subtract, 8},       {"*", Code::multiply, 9},
                                   {"//", Code::floor_divide, 9},  {"/", Code::divide, 9},
                                   {"%", Code::modulo, 9}};

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

  int emit(const Expression::Instruction& in) {
    uint64_t bits;
    std::memcpy(&bits, &in.value, sizeof bits);
    auto [it, added] =
        known_.try_emplace({in.code, in.a, in.b, in.c, bits, in.integer}, result_.program_.size());
    if (added) result_.program_.push_back(in);
    return it->second;
  }

  int literal(double value, bool integer) {
    return emit({.code = Code::constant, .value = value, .integer = integer});
  }

  int emit(Code code, int a, int b = -1, int c = -1) {
    auto is_literal = [&](int v) { return result_.program_[v].code == Code::constant; };
    if (code == Code::negate && is_literal(a))
      return literal(-result_.program_[a].value, result_.program_[a].integer);
    // Integer literals are added here, so that their sum is a literal too and cannot overflow.
    if ((code == Code::add || code == Code::subtract || code == Code::multiply) && is_literal(a) &&
        is_literal(b) && result_.program_[a].integer && result_.program_[b].integer) {
      double x = result_.program_[a].value, y = result_.program_[b].value;
      return literal(code == Code::add ? x + y : code == Code::subtract ? x - y : x * y, true);
    }
    return emit({.code = code, .a = a, .b = b, .c = c});
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
    int condition = binary(0);
    int value = condition;
    if (accept("?")) {
      int yes = expression();
      expect(":");
      value = emit(Code::select, condition, yes, expression());
    }
    --depth_;
    return value;
  }

  /// Operators of at least this level, by precedence climbing.
  int binary(int lowest) {
    int value = unary();
    for (;;) {
      skip_space();
      const Operator* found =
          std::find_if(std::begin(kOperators), std::end(kOperators),
                       [&](const Operator& o) { return text_.substr(place_).starts_with(o.text); });
      if (found == std::end(kOperators) || found->level < lowest) return value;
      place_ += found->text.size();
      value = emit(found->code, value, binary(found->level + 1));
    }
  }

  int unary() {
    if (accept("-")) return emit(Code::negate, unary_operand());
    if (accept("!")) return emit(Code::logical_not, unary_operand());
    if (accept("~")) return emit(Code::bit_not, unary_operand());
    return accept("+") ? unary_operand() : primary();
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
    bool integer = true;
    if (place_ < text_.size() && text_[place_] == '.') {
      integer = false;
      ++place_;
      count += digits();
    }
    if (count == 0) fail_at(start, "expected a number");
    if (place_ < text_.size() && (text_[place_] == 'e' || text_[place_] == 'E')) {
      integer = false;
      ++place_;
      if (place_ < text_.size() && (text_[place_] == '+' || text_[place_] == '-')) ++place_;
      if (digits() == 0) fail("expected the digits of an exponent");
    }
    if (place_ < text_.size() && starts_name(text_[place_])) fail("expected the end of the number");
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + start, text_.data() + place_, value);
    if (error != std::errc() || value > 3.4028234663852886e38)
      fail_at(start, "expected a number that a float can hold");
    return literal(value, integer);
  }

  int call(std::string_view word, size_t start) {
    const Function* function = find_function(word);
    if (!function) fail_at(start, "expected a function's name, got " + std::string(word));
    int arguments[3] = {-1, -1, -1};
    for (int i = 0; i < function->arguments; ++i) {
      if (i) expect(",");
      arguments[i] = expression();
    }
    expect(")");
    auto [a, b, c] = arguments;
    if (word == "clamp") return emit(Code::minimum, emit(Code::maximum, a, b), c);
    return emit(function->code, a, b, c);
  }

  int variable(std::string_view word) {
    bool scalar = is_scalar(word);
    auto& names = scalar ? result_.scalars_ : result_.inputs_;
    auto it = std::find(names.begin(), names.end(), word);
    int index = static_cast<int>(it - names.begin());
    if (it == names.end()) names.emplace_back(word);
    return emit({.code = scalar ? Code::scalar : Code::input, .a = index});
  }

  std::string_view text_;
  const std::vector<std::string>& scalar_names_;
  Expression result_;
  std::map<std::tuple<Code, int, int, int, uint64_t, bool>, int> known_;
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
