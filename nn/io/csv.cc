// SPDX-License-Identifier: MIT
#include "nn/io/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "matrix/with_type.h"
#include "nn/io/tensor_bytes.h"

namespace kaiseki::nn {
namespace {

constexpr std::string_view kSpace = " \r\t";
// The nearest float of a smaller number is finite. Texts with few digits may exceed the largest
// one.
constexpr double kTooLarge = 0x1.ffffffp127;

/// Appends the numbers of one line. Returns how many there are.
class CsvLine {
 public:
  CsvLine(std::string_view source, int64_t number) : source_(source), number_(number) {}

  int64_t parse(std::string_view line, std::vector<float>& values) {
    const size_t found = line.find_first_of(",;\t");
    const char separator = found == std::string_view::npos ? ' ' : line[found];
    for (bool more = true; more; ++column_) {
      const size_t end = line.find(separator);
      more = end != std::string_view::npos;
      values.push_back(number(trimmed(line.substr(0, end))));
      if (!more) continue;
      line.remove_prefix(end + 1);
      // Several spaces separate as one does.
      if (separator == ' ') line = line.substr(line.find_first_not_of(kSpace));
    }
    return column_ - 1;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ParseError(
        source_, "line " + std::to_string(number_) + ", column " + std::to_string(column_), what);
  }

 private:
  float number(std::string_view text) const {
    const std::optional<double> value = parse_decimal(text);
    if (!value) fail("expected a number, got '" + std::string(text.substr(0, 40)) + "'");
    if (!std::isfinite(*value)) return static_cast<float>(*value);
    if (std::abs(*value) >= kTooLarge)
      fail("expected a number of 32 bits, got '" + std::string(text.substr(0, 40)) + "'");
    constexpr double kLargest = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(*value, -kLargest, kLargest));
  }

  std::string_view source_;
  int64_t number_, column_ = 1;
};

template <typename T>
void write_rows(const Tensor& host, std::string& text) {
  const T* value = host.data<T>();
  const int64_t columns = host.rank() == 2 ? host.dim(1) : 1;
  std::array<char, 32> digits;
  for (int64_t i = 0; i < host.size(); ++i) {
    const auto end = [&] {
      if constexpr (std::is_same_v<T, bool>)
        return std::to_chars(digits.data(), digits.data() + digits.size(), int{value[i]});
      else
        return std::to_chars(digits.data(), digits.data() + digits.size(), value[i]);
    }();
    text.append(digits.data(), end.ptr);
    text += (i + 1) % columns ? "," : "\r\n";  // RFC 4180
  }
}

}  // namespace

Tensor parse_csv(std::string_view text, std::string_view source) {
  std::vector<float> values;
  int64_t rows = 0, columns = 0, number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    // A tab at an end stands beside an empty column.
    const std::string_view line = trimmed(text.substr(0, end), " \r");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (trimmed(line).empty()) continue;
    CsvLine parser(source, number);
    const int64_t count = parser.parse(line, values);
    if (rows++ == 0) columns = count;
    if (count != columns)
      parser.fail("expected " + std::to_string(columns) + " numbers in the row, got " +
                  std::to_string(count));
  }
  return Tensor::from(std::span<const float>(values), {rows, columns}, Device::cpu());
}

Tensor read_csv(const std::string& path) {
  const ByteVector bytes = read_file(path);
  return parse_csv(as_text(bytes), path);
}

std::string format_csv(const Tensor& value) {
  require(value.defined() && (value.rank() == 1 || value.rank() == 2), "csv",
          "expected a vector or a matrix");
  const Tensor host = for_file(value);
  std::string text;
  with_type(host.dtype(), [&](auto zero) { write_rows<decltype(zero)>(host, text); });
  return text;
}

void write_csv(const std::string& path, const Tensor& value) {
  write_file_atomic(path, as_bytes(format_csv(value)));
}

}  // namespace kaiseki::nn
