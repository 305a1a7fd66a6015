// SPDX-License-Identifier: MIT
#include "matrix/ops/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <ostream>
#include <vector>

#include "base/error.h"

namespace kaiseki {
namespace {

/// `value` with the printf format, for example "%.3e".
std::string printed(const char* format, int digits, double value) {
  char text[400];
  std::snprintf(text, sizeof text, format, digits, value);
  // Other locales write a comma.
  if (char* point = std::strpbrk(text, ",")) *point = '.';
  return text;
}

template <class T>
T number_in(const std::string& text) {
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The digits after the point of "%e" that identify every value.
template <class T>
constexpr int kDigits = std::numeric_limits<T>::max_digits10 - 1;

/// "1.25e+03", with the fewest digits that identify the value, and at most `most` after the point.
template <class T>
std::string scientific(T value, int most) {
  for (int digits = 0;; ++digits) {
    std::string text = printed("%.*e", digits, value);
    if (digits < most && number_in<T>(text) != value) continue;
    if (digits == 0) text.insert(text.find('e'), ".");
    return text;
  }
}

/// "1250.", the same digits without an exponent.
template <class T>
std::string positional(T value, int most) {
  const std::string exact = scientific(value, kDigits<T>);
  const size_t e = exact.find('e');
  const int digits = static_cast<int>(e - exact.find('.')) - 1, exponent = std::atoi(&exact[e + 1]);
  if (digits <= exponent) {
    std::string text = exact.substr(0, e).erase(exact.find('.'), 1);
    return text.append(static_cast<size_t>(exponent - digits), '0') + '.';
  }
  std::string text = printed("%.*f", std::min(digits - exponent, most), value);
  if (text.find('.') == std::string::npos) return text + '.';
  while (text.back() == '0') text.pop_back();
  return text;
}

/// How the floats of one tensor are written, so that their points are aligned.
template <class T>
class FloatFormat {
 public:
  FloatFormat(const std::vector<T>& values, int precision) : precision_(precision) {
    T largest = 0, smallest = 0;
    for (T v : values) {
      if (!std::isfinite(v) || v == 0) continue;
      largest = std::max(largest, std::abs(v));
      smallest = smallest == 0 ? std::abs(v) : std::min(smallest, std::abs(v));
    }
    scientific_ = largest >= T(1e8) ||
                  (largest > 0 && (double{smallest} < 1e-4 || largest / smallest > 1000));
    for (T v : values) {
      if (!std::isfinite(v)) continue;
      const std::string text = plain(v);
      const size_t point = text.find('.');
      before_ = std::max(before_, point);
      const size_t e = std::min(text.find('e'), text.size());
      after_ = std::max(after_, e - point - 1);
      exponent_ = std::max(exponent_, text.size() - e);
    }
    for (T v : values)
      if (!std::isfinite(v)) {
        const size_t length = name(v).size(), rest = after_ + exponent_ + 1;
        before_ = std::max(before_, length > rest ? length - rest : 0);
      }
  }

  std::string operator()(T v) const {
    const size_t width = before_ + 1 + after_ + exponent_;
    if (!std::isfinite(v)) {
      const std::string text = name(v);
      return std::string(width - text.size(), ' ') + text;
    }
    std::string text = plain(v);
    const size_t point = text.find('.'), missing = before_ - point;
    if (scientific_) {
      const size_t e = text.find('e');
      text.insert(e + 2, exponent_ - (text.size() - e), '0');
      text.insert(e, after_ - (e - point - 1), '0');
    }
    text.insert(0, missing, ' ');
    text.resize(width, ' ');
    return text;
  }

 private:
  static std::string name(T v) { return std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf"; }
  std::string plain(T v) const {
    return scientific_ ? scientific(v, precision_) : positional(v, precision_);
  }

  int precision_;
  bool scientific_;
  size_t before_ = 0, after_ = 0;
  size_t exponent_ = 0;  // the length of "e+08"
};

template <class T>
std::string single_float(T v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  if (v != 0 && (std::abs(v) >= T(1e16) || double{std::abs(v)} < 1e-4)) {
    std::string text = scientific(v, kDigits<T>);
    if (text[text.find('.') + 1] == 'e') text.erase(text.find('.'), 1);
    return text;
  }
  std::string text = positional(v, 60);
  return text.back() == '.' ? text + '0' : text;
}

class Printer {
 public:
  Printer(const Tensor& x, const PrintOptions& options) : x_(x), options_(options) {
    require(options.precision >= 0 && options.edge_items >= 1, "print",
            "expected a precision of 0 or more and edge_items of 1 or more, got ",
            options.precision, " and ", options.edge_items);
    summarized_ = x.size() > options.threshold;
    collect(0, 0);
    write_elements();
  }

  std::string write() { return axis(0, " ", options_.line_width); }

 private:
  int64_t edge(int i) const {
    return summarized_ && 2 * options_.edge_items < x_.dim(i) ? options_.edge_items : 0;
  }

  /// Calls f for the indices of an axis that are shown. -1 stands for the gap.
  template <class Function>
  void shown(int i, Function f) const {
    const int64_t n = x_.dim(i), first = edge(i);
    for (int64_t k = 0; k < first; ++k) f(k);
    if (first) f(-1);
    for (int64_t k = first ? n - first : 0; k < n; ++k) f(k);
  }

  void collect(int i, int64_t position) {
    if (i == x_.rank()) return positions_.push_back(position);
    shown(i, [&](int64_t k) {
      if (k >= 0) collect(i + 1, position + k * x_.strides()[i]);
    });
  }

  template <class T>
  std::vector<T> elements() const {
    const T* first = static_cast<const T*>(x_.host_pointer(Access::read));
    std::vector<T> values;
    for (int64_t position : positions_) values.push_back(first[position]);
    return values;
  }

  template <class T>
  void write_integers() {
    for (T value : elements<T>()) words_.push_back(std::to_string(value));
    size_t width = 0;
    for (const std::string& word : words_) width = std::max(width, word.size());
    for (std::string& word : words_) word.insert(0, width - word.size(), ' ');
  }

  template <class T>
  void write_floats() {
    const std::vector<T> values = elements<T>();
    const FloatFormat<T> format(values, options_.precision);
    for (T v : values) words_.push_back(x_.rank() ? format(v) : single_float(v));
  }

  void write_elements() {
    switch (x_.dtype()) {
      case DType::f32:
        return write_floats<float>();
      case DType::f64:
        return write_floats<double>();
      case DType::i32:
        return write_integers<int32_t>();
      case DType::u8:
        return write_integers<uint8_t>();
      case DType::boolean:
        for (uint8_t v : elements<uint8_t>())
          words_.push_back(v ? (x_.rank() ? " True" : "True") : "False");
    }
  }

  /// Axis i with its brackets. `indent` begins its second and later lines.
  std::string axis(int i, const std::string& indent, int width) {
    if (i == x_.rank()) return words_[next_++];
    const bool innermost = i == x_.rank() - 1;
    const std::string gap(static_cast<size_t>(innermost ? 0 : x_.rank() - 1 - i), '\n');
    std::string text, line = indent;
    bool first = true;
    shown(i, [&](int64_t k) {
      const std::string word = k < 0 ? "..." : axis(i + 1, indent + ' ', width - 1);
      if (!innermost) {
        text += (first ? "" : gap + indent) + word;
      } else {
        if (!first) line += ' ';
        if (static_cast<int>(line.size() + word.size()) > width - 1 &&
            line.size() > indent.size()) {
          line.erase(line.find_last_not_of(' ') + 1);
          text += line + '\n';
          line = indent;
        }
        line += word;
      }
      first = false;
    });
    text += innermost ? line : "";
    return '[' + (innermost ? text.substr(indent.size()) : text) + ']';
  }

  const Tensor& x_;
  const PrintOptions& options_;
  bool summarized_;
  std::vector<int64_t> positions_;  // of the shown elements
  std::vector<std::string> words_;  // their texts
  size_t next_ = 0;
};

}  // namespace

std::string to_string(const Tensor& x, const PrintOptions& options) {
  require(x.defined(), "to_string", "expected a tensor, got an empty one");
  if (x.size() == 0) return "[]";
  return Printer(x, options).write();
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  return out << (x.defined() ? to_string(x) : "undefined");
}

}  // namespace kaiseki
