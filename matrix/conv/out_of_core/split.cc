// SPDX-License-Identifier: MIT
#include "matrix/conv/out_of_core/split.h"

#include <algorithm>

#include "matrix/ceil_div.h"

namespace kaiseki::conv {
namespace {

int64_t reach(const ConvProblem& p) { return p.dilation[0] * (p.r - 1) + 1; }

int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

/// The problem of some images, of the rows [y0, y0 + rows) of y and of the rows of x that they
/// read. `x_rows` may be larger, if the additional rows give no row of y.
ConvProblem part_of(const ConvProblem& whole, int64_t images, int64_t x_rows) {
  ConvProblem part = whole;
  part.n = images;
  part.h = x_rows;
  part.padding[0] = 0;
  return part;
}

/// A piece of forward or backward_filter: the rows [y0, y0 + rows) of y.
ConvPiece rows_of_y(const ConvProblem& p, int64_t y0, int64_t rows) {
  const int64_t begin = y0 * p.stride[0] - p.padding[0];  // of x; negative rows are padding
  const int64_t length = (rows - 1) * p.stride[0] + reach(p);
  const int64_t first = std::clamp<int64_t>(begin, 0, p.h);
  const int64_t end = std::clamp(begin + length, first, p.h);
  ConvPiece piece;
  piece.problem = part_of(p, p.n, length);
  piece.x = {first, end - first, first - begin};
  piece.y = {y0, rows, 0};
  piece.has_padding = end - first < length;
  return piece;
}

/// A piece of backward_data: the rows [x0, x0 + rows) of x. It reads all rows of y that read them.
ConvPiece rows_of_x(const ConvProblem& p, int64_t x0, int64_t rows) {
  const int64_t s = p.stride[0], padded = x0 + p.padding[0];
  const int64_t y0 = std::max<int64_t>(0, ceil_div(std::max<int64_t>(0, padded - reach(p) + 1), s));
  const int64_t y1 = std::min(p.out_h() - 1, floor_div(padded + rows - 1, s));
  const int64_t count = std::max<int64_t>(0, y1 - y0 + 1);
  const int64_t begin = y0 * s - p.padding[0];
  const int64_t length = std::max((count - 1) * s + reach(p), x0 + rows - begin);
  ConvPiece piece;
  piece.problem = part_of(p, p.n, length);
  piece.x = {x0, rows, x0 - begin};
  piece.y = {y0, count, 0};
  return piece;
}

uint64_t tensor_bytes(int64_t images, int64_t channels, int64_t rows, int64_t columns) {
  return static_cast<uint64_t>(images * channels * rows * columns) * sizeof(float);
}

}  // namespace

uint64_t piece_bytes(const ConvProblem& p, const PieceSize& size) {
  const bool data = p.direction == ConvDirection::backward_data;
  const int64_t x_rows = (size.rows - 1) * (data ? 1 : p.stride[0]) + reach(p) * (data ? 2 : 1);
  const int64_t y_rows = data ? (size.rows - 1 + reach(p)) / p.stride[0] + 1 : size.rows;
  return tensor_bytes(size.images, p.c, x_rows, p.w) +
         tensor_bytes(size.images, p.k, y_rows, p.out_w());
}

std::optional<PieceSize> choose_pieces(const ConvProblem& p, uint64_t room, int64_t least) {
  const bool data = p.direction == ConvDirection::backward_data;
  const int64_t all_rows = data ? p.h : p.out_h();
  const auto fits = [&](const PieceSize& size) {
    return piece_bytes(p, size) <= room / kPiecesAtOnce;
  };
  const auto enough = [&](const PieceSize& size) {
    return ceil_div(p.n, size.images) * ceil_div(all_rows, size.rows) >=
           std::min(least, p.n * all_rows);
  };
  PieceSize size{p.n, all_rows};
  const auto halve = [](int64_t count) { return ceil_div(count, 2); };
  while (size.images > 1 && !(fits(size) && enough(size))) size.images = halve(size.images);
  while (size.rows > 1 && !(fits(size) && enough(size))) size.rows = halve(size.rows);
  if (!fits(size)) return {};
  return size;
}

std::vector<ConvPiece> divide(const ConvProblem& p, const PieceSize& size) {
  const bool data = p.direction == ConvDirection::backward_data;
  const int64_t all_rows = data ? p.h : p.out_h();
  std::vector<ConvPiece> pieces;
  for (int64_t image = 0; image < p.n; image += size.images)
    for (int64_t row = 0; row < all_rows; row += size.rows) {
      const int64_t rows = std::min(size.rows, all_rows - row);
      ConvPiece piece = data ? rows_of_x(p, row, rows) : rows_of_y(p, row, rows);
      piece.problem.n = std::min(size.images, p.n - image);
      piece.first_image = image;
      pieces.push_back(piece);
    }
  return pieces;
}

}  // namespace kaiseki::conv
