// SPDX-License-Identifier: MIT
// Multiplies one tensor after the other. A product over summed axes is one batched matrix product
// [batch, m, k] x [batch, k, n]. Without summed axes it is an elementwise product.
#include "matrix/ops/einsum.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "matrix/ops/arrange.h"
#include "matrix/ops/check.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"

namespace kaiseki {
namespace {

constexpr std::string_view kName = "einsum";

/// A tensor with a letter for each axis.
struct Term {
  Tensor value;
  std::string letters;

  int64_t length(std::string_view some) const {
    int64_t product = 1;
    for (char letter : some) product *= value.dim(static_cast<int>(letters.find(letter)));
    return product;
  }
  /// The view with the axes in this order.
  Tensor ordered(std::string_view order) const {
    std::vector<int> axes;
    for (char letter : order) axes.push_back(static_cast<int>(letters.find(letter)));
    return value.permute(axes);
  }
};

bool has(std::string_view letters, char letter) {
  return letters.find(letter) != std::string_view::npos;
}

std::string select(std::string_view from, const auto& condition) {
  std::string result;
  std::copy_if(from.begin(), from.end(), std::back_inserter(result), condition);
  return result;
}

/// Keeps the diagonal of axes with the same letter.
Term without_repeats(Term term) {
  for (size_t i = 0; i < term.letters.size(); ++i) {
    const size_t j = term.letters.find(term.letters[i], i + 1);
    if (j == std::string::npos) continue;
    const int64_t n = term.value.dim(static_cast<int>(i));
    std::vector<int> axes = {static_cast<int>(i), static_cast<int>(j)};
    Shape shape{n * n};
    std::string letters(1, term.letters[i]);
    for (size_t k = 0; k < term.letters.size(); ++k) {
      if (k == i || k == j) continue;
      axes.push_back(static_cast<int>(k));
      shape.push_back(term.value.dim(static_cast<int>(k)));
      letters += term.letters[k];
    }
    const Tensor squares = term.value.permute(axes).contiguous().reshape(shape);
    return without_repeats({squares(Slice({}, {}, n + 1)), letters});
  }
  return term;
}

/// Sums over the axes whose letters are not in `kept`.
Term summed(const Term& term, std::string_view kept) {
  Axes axes;
  for (size_t i = 0; i < term.letters.size(); ++i)
    if (!has(kept, term.letters[i])) axes.push_back(static_cast<int>(i));
  if (axes.empty()) return term;
  return {sum(term.value, axes), select(term.letters, [&](char c) { return has(kept, c); })};
}

/// A batch of matrices, as stored or transposed.
struct Matrices {
  Tensor value;
  bool transposed;
};

/// Merges the axes to [batch, rows, columns]. Copies only if neither order of the two is
/// contiguous.
Matrices as_matrices(const Term& term, const std::string& batch, const std::string& rows,
                     const std::string& columns) {
  const int64_t b = term.length(batch), m = term.length(rows), n = term.length(columns);
  const Tensor plain = term.ordered(batch + rows + columns);
  const Tensor turned = term.ordered(batch + columns + rows);
  if (!plain.is_contiguous() && turned.is_contiguous()) return {turned.reshape({b, n, m}), true};
  return {plain.contiguous().reshape({b, m, n}), false};
}

/// The product, summed over the axes whose letters are not in `kept`.
Term product(const Term& left, const Term& right, const std::string& kept) {
  const Term a = summed(left, right.letters + kept), b = summed(right, left.letters + kept);
  const auto both = [&](char c) { return has(b.letters, c); };
  const std::string batch = select(a.letters, [&](char c) { return both(c) && has(kept, c); });
  const std::string inner = select(a.letters, [&](char c) { return both(c) && !has(kept, c); });
  const std::string rows = select(a.letters, [&](char c) { return !both(c); });
  const std::string columns = select(b.letters, [&](char c) { return !has(a.letters, c); });
  const std::string letters = batch + rows + columns;
  Shape shape;
  for (char c : letters) shape.push_back((has(a.letters, c) ? a : b).length({&c, 1}));
  const Matrices x = as_matrices(a, batch, rows, inner), y = as_matrices(b, batch, inner, columns);
  if (inner.empty()) {
    const int64_t count = a.length(batch);
    const Tensor product = x.value.reshape({count, a.length(rows), 1}) *
                           y.value.reshape({count, 1, b.length(columns)});
    return {product.reshape(shape), letters};
  }
  return {matmul(x.value, y.value, x.transposed, y.transposed).reshape(shape), letters};
}

/// Each "..." is one kEllipsis.
struct EinsumText {
  std::vector<std::string> inputs;
  std::string output;
};

constexpr char kEllipsis = '.';

EinsumText parse(std::string_view expression) {
  auto fail = [&](std::string_view what) {
    throw Error(message(kName, what, " in '", expression, "'"));
  };
  EinsumText text{{""}, ""};
  bool arrow = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == ' ') continue;
    if (c == ',' && !arrow) {
      text.inputs.emplace_back();
    } else if (c == '-' && !arrow && i + 1 < expression.size() && expression[i + 1] == '>') {
      arrow = true;
      ++i;
    } else if (expression.substr(i, 3) == "...") {
      std::string& part = arrow ? text.output : text.inputs.back();
      if (has(part, kEllipsis)) fail("expected ... once in an operand");
      part += kEllipsis;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      (arrow ? text.output : text.inputs.back()) += c;
    } else {
      fail("expected letters, ..., commas and one ->, got '" + std::string(1, c) + "'");
    }
  }
  std::string all;
  for (const std::string& input : text.inputs) all += input;
  auto occurs_once = [](const std::string& in, char c) {
    return std::count(in.begin(), in.end(), c) == 1;
  };
  if (!arrow) {
    text.output = select(all, [&](char c) { return c != kEllipsis && occurs_once(all, c); });
    std::sort(text.output.begin(), text.output.end());
    if (has(all, kEllipsis)) text.output.insert(text.output.begin(), kEllipsis);
  }
  for (char c : text.output)
    if (c != kEllipsis && (!has(all, c) || !occurs_once(text.output, c)))
      fail("expected each letter of the result once, and in an operand, got '" + std::string(1, c) +
           "'");
  return text;
}

/// The names of the last `count` axes of "...": digits, which count from the right.
std::string ellipsis_names(int count) {
  std::string names;
  for (int i = count; i-- > 0;) names += static_cast<char>('0' + i);
  return names;
}

/// Names the axes of "..." in terms and output, and checks the ranks. Axes of length 1 that other
/// terms stretch leave their terms.
void name_ellipses(std::vector<Term>& terms, std::string& output, std::string_view expression) {
  int most = 0;
  std::array<int64_t, Shape::kMaxRank> lengths;
  lengths.fill(1);
  for (Term& term : terms) {
    const size_t place = term.letters.find(kEllipsis);
    const bool has_more = place != std::string::npos;
    const int count = term.value.rank() - static_cast<int>(term.letters.size()) + has_more;
    require(has_more ? count >= 0 : count == 0, kName, "expected rank ",
            term.letters.size() - has_more, has_more ? " or more" : "", " for an operand of '",
            expression, "', got ", term.value.shape());
    if (!has_more) continue;
    term.letters.replace(place, 1, ellipsis_names(count));
    most = std::max(most, count);
    for (int i = 0; i < count; ++i) {
      const int64_t length = term.value.dim(static_cast<int>(place) + count - 1 - i);
      if (length != 1) lengths[i] = length;
    }
  }
  const size_t place = output.find(kEllipsis);
  if (place != std::string::npos)
    output.replace(place, 1, ellipsis_names(most));
  else if (most > 0)
    throw Error(message(kName, "expected ... in the result of '", expression, "'"));
  for (Term& term : terms)
    for (int i = 0; i < most; ++i) {
      const size_t axis = term.letters.find(static_cast<char>('0' + i));
      if (axis == std::string::npos || lengths[i] == 1) continue;
      if (term.value.dim(static_cast<int>(axis)) != 1) continue;
      term.value = squeeze(term.value, {static_cast<int>(axis)});
      term.letters.erase(axis, 1);
    }
}

/// "axis 'i'", or "axis -1 of ...".
std::string axis_text(char name) {
  if (name < '0' || name > '9') return std::string("axis '") + name + "'";
  return "axis -" + std::to_string(name - '0' + 1) + " of ...";
}

void check_lengths(const std::vector<Term>& terms, std::string_view expression) {
  std::string seen;
  std::vector<int64_t> lengths;
  for (const Term& term : terms) {
    for (size_t i = 0; i < term.letters.size(); ++i) {
      const int64_t length = term.value.dim(static_cast<int>(i));
      const size_t found = seen.find(term.letters[i]);
      if (found == std::string::npos) {
        seen += term.letters[i];
        lengths.push_back(length);
      } else {
        require(lengths[found] == length, kName, "expected length ", lengths[found], " of ",
                axis_text(seen[found]), " in '", expression, "', got ", length);
      }
    }
  }
}

}  // namespace

Tensor einsum(std::string_view expression, std::span<const Tensor> tensors) {
  const EinsumText text = parse(expression);
  require(text.inputs.size() == tensors.size(), kName, "expected ", text.inputs.size(),
          " tensors for '", expression, "', got ", tensors.size());
  std::vector<Term> terms;
  for (size_t i = 0; i < tensors.size(); ++i) terms.push_back({tensors[i], text.inputs[i]});
  for (const Term& term : terms)
    check_tensor(term.value, "an operand", kName, terms[0].value.device());
  std::string output = text.output;
  name_ellipses(terms, output, expression);
  check_lengths(terms, expression);
  Term result = without_repeats(terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string kept = output;
    for (size_t later = i + 1; later < terms.size(); ++later) kept += terms[later].letters;
    result = product(result, without_repeats(terms[i]), kept);
  }
  result = summed(result, output);
  Tensor value = result.ordered(output);
  // A result never shares its storage with an operand.
  return value.is_contiguous() && tensors.size() > 1 ? value : value.clone();
}

Tensor tensordot(const Tensor& a, const Tensor& b, int axes) {
  require(a.defined() && b.defined(), "tensordot", "expected tensors, got an empty one");
  require(axes >= 0 && axes <= std::min(a.rank(), b.rank()), "tensordot",
          "expected a number of axes from 0 to ", std::min(a.rank(), b.rank()), ", got ", axes);
  Axes last, first;
  for (int i = 0; i < axes; ++i) {
    last.push_back(a.rank() - axes + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a, const Axes& axes_b) {
  require(a.defined() && b.defined(), "tensordot", "expected tensors, got an empty one");
  require(axes_a.size() == axes_b.size(), "tensordot", "expected as many axes of a as of b, got ",
          axes_a.size(), " and ", axes_b.size());
  std::string left, right;
  for (int i = 0; i < a.rank(); ++i) left += static_cast<char>('a' + i);
  for (int i = 0; i < b.rank(); ++i) right += static_cast<char>('A' + i);
  for (size_t i = 0; i < axes_a.size(); ++i) {
    const int from = a.shape().index(axes_a[i]), to = b.shape().index(axes_b[i]);
    require(right[static_cast<size_t>(to)] <= 'Z' && !has(right, left[static_cast<size_t>(from)]),
            "tensordot", "expected each axis once, got axes ", from, " and ", to, " again");
    right[static_cast<size_t>(to)] = left[static_cast<size_t>(from)];
  }
  const std::string result = select(left, [&](char c) { return !has(right, c); }) +
                             select(right, [&](char c) { return !has(left, c); });
  const Tensor both[] = {a, b};
  return einsum(left + "," + right + "->" + result, both);
}

}  // namespace kaiseki
