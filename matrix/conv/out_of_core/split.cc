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

/// A piece of whole images. The convolution pads them itself, so each tensor is one copy.
ConvPiece whole_images(const ConvProblem& p) {
  ConvPiece piece;
  piece.problem = p;
  piece.x = {0, p.h, 0};
  piece.y = {0, p.out_h(), 0};
  return piece;
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

/// The tensors x and y of a piece.
struct PieceTensors {
  uint64_t x_bytes, y_bytes;
  int64_t x_copies, y_copies;  // whole images, or the rows of a channel, are copied together
};

int64_t rows_of_result(const ConvProblem& p) {
  return p.direction == ConvDirection::backward_data ? p.h : p.out_h();
}

PieceTensors tensors_of(const ConvProblem& p, const PieceSize& size) {
  if (size.rows == rows_of_result(p))
    return {tensor_bytes(size.images, p.c, p.h, p.w),
            tensor_bytes(size.images, p.k, p.out_h(), p.out_w()), 1, 1};
  const bool data = p.direction == ConvDirection::backward_data;
  const int64_t x_rows = (size.rows - 1) * (data ? 1 : p.stride[0]) + reach(p) * (data ? 2 : 1);
  const int64_t y_rows = data ? (size.rows - 1 + reach(p)) / p.stride[0] + 1 : size.rows;
  return {tensor_bytes(size.images, p.c, x_rows, p.w),
          tensor_bytes(size.images, p.k, y_rows, p.out_w()), size.images * p.c, size.images * p.k};
}

}  // namespace

uint64_t piece_bytes(const ConvProblem& p, const PieceSize& size) {
  const PieceTensors tensors = tensors_of(p, size);
  return tensors.x_bytes + tensors.y_bytes;
}

double predict_seconds(const ConvProblem& p, const PieceSize& size,
                       const pieces::PieceCosts& costs) {
  const PieceTensors tensors = tensors_of(p, size);
  const auto seconds = [&](uint64_t bytes, int64_t copies, double byte) {
    return byte * static_cast<double>(bytes) + costs.copy * static_cast<double>(copies);
  };
  const bool forward = p.direction == ConvDirection::forward;
  const bool data = p.direction == ConvDirection::backward_data;
  pieces::PieceSeconds piece;
  if (!data) piece.in += seconds(tensors.x_bytes, tensors.x_copies, costs.to_device);
  if (!forward) piece.in += seconds(tensors.y_bytes, tensors.y_copies, costs.to_device);
  if (forward) piece.out = seconds(tensors.y_bytes, tensors.y_copies, costs.to_host);
  if (data) piece.out = seconds(tensors.x_bytes, tensors.x_copies, costs.to_host);
  const int64_t rows = rows_of_result(p);
  const double share =
      static_cast<double>(size.images * size.rows) / static_cast<double>(p.n * rows);
  piece.compute = share * p.flops() / 2 * costs.multiply_add;
  return piece.of_all(ceil_div(p.n, size.images) * ceil_div(rows, size.rows));
}

std::optional<PieceSize> choose_pieces(const ConvProblem& p, uint64_t room,
                                       const pieces::PieceCosts& costs) {
  std::optional<PieceSize> best;
  double shortest = 0;
  for (int64_t images : pieces::piece_sizes(p.n))
    for (int64_t rows : pieces::piece_sizes(rows_of_result(p))) {
      const PieceSize size{images, rows};
      if (piece_bytes(p, size) > room / kPiecesAtOnce) break;
      const double seconds = predict_seconds(p, size, costs);
      if (best && seconds >= shortest) continue;
      best = size;
      shortest = seconds;
    }
  return best;
}

std::vector<ConvPiece> divide(const ConvProblem& p, const PieceSize& size) {
  const bool data = p.direction == ConvDirection::backward_data;
  const int64_t all_rows = rows_of_result(p);
  std::vector<ConvPiece> pieces;
  for (int64_t image = 0; image < p.n; image += size.images)
    for (int64_t row = 0; row < all_rows; row += size.rows) {
      const int64_t rows = std::min(size.rows, all_rows - row);
      ConvPiece piece = rows == all_rows ? whole_images(p)
                        : data           ? rows_of_x(p, row, rows)
                                         : rows_of_y(p, row, rows);
      piece.problem.n = std::min(size.images, p.n - image);
      piece.first_image = image;
      pieces.push_back(piece);
    }
  return pieces;
}

}  // namespace kaiseki::conv
