// SPDX-License-Identifier: MIT
#include "matrix/conv/out_of_core/split.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "matrix/ceil_div.h"

namespace kaiseki::conv {
namespace {

int64_t reach(const ConvProblem& p) { return p.dilation[0] * (p.r - 1) + 1; }

int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

/// The problem of some images, the rows [y0, y0 + rows) of y, and the rows of x that they read.
/// `x_rows` may be larger, if the additional rows give no row of y.
ConvProblem part_of(const ConvProblem& whole, int64_t images, int64_t x_rows) {
  ConvProblem part = whole;
  part.n = images;
  part.h = x_rows;
  part.padding[0] = part.extra_padding[0] = 0;
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
  const auto images = [&](int64_t piece_channels, int64_t channels) {
    return piece_channels == channels ? 1 : size.images;
  };
  const int64_t x_channels = size.x_channels, y_channels = size.y_channels;
  if (size.rows == rows_of_result(p))
    return {tensor_bytes(size.images, x_channels, p.h, p.w),
            tensor_bytes(size.images, y_channels, p.out_h(), p.out_w()), images(x_channels, p.c),
            images(y_channels, p.k)};
  const bool data = p.direction == ConvDirection::backward_data;
  const int64_t x_rows = (size.rows - 1) * (data ? 1 : p.stride[0]) + reach(p) * (data ? 2 : 1);
  const int64_t y_rows = data ? (size.rows - 1 + reach(p)) / p.stride[0] + 1 : size.rows;
  return {tensor_bytes(size.images, x_channels, x_rows, p.w),
          tensor_bytes(size.images, y_channels, y_rows, p.out_w()), size.images * x_channels,
          size.images * y_channels};
}

/// Bytes of the part of the filter that a piece copies, because it is not contiguous.
uint64_t filter_bytes(const ConvProblem& p, const PieceSize& size) {
  if (p.groups > 1 || size.x_channels == p.c) return 0;
  return tensor_bytes(size.y_channels, size.x_channels, p.r, p.s);
}

/// The numbers of pieces along each axis.
struct PieceCounts {
  int64_t images, rows, results, sums;  // results and sums: channels of the result and of its sums
  int64_t outer() const { return images * rows * results; }
};

PieceCounts counts_of(const ConvProblem& p, const PieceSize& size) {
  const int64_t x = ceil_div(p.c, size.x_channels), y = ceil_div(p.k, size.y_channels);
  PieceCounts counts{ceil_div(p.n, size.images), ceil_div(rows_of_result(p), size.rows), y, x};
  if (p.groups > 1)
    counts.sums = 1;  // a piece of a group has all channels that its result needs
  else if (p.direction == ConvDirection::backward_data)
    std::swap(counts.results, counts.sums);
  return counts;
}

/// Kernels compute this many channels together. Fewer channels take as long (section 3.3).
constexpr int64_t kChannels = 32;

/// The part of all channels that kernels compute for a piece.
double share_of_channels(int64_t part, int64_t all) {
  if (part == all) return 1;
  const int64_t computed = std::min(all, kChannels * ceil_div(part, kChannels));
  return static_cast<double>(computed) / static_cast<double>(all);
}

/// The part of the problem's computing that a piece takes.
double share_of(const ConvProblem& p, const PieceSize& size) {
  const auto share = [](int64_t part, int64_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
  };
  const double images = share(size.images, p.n) * share(size.rows, rows_of_result(p));
  if (p.groups > 1) return images * share(size.y_channels, p.k);
  return images * share_of_channels(size.x_channels, p.c) * share_of_channels(size.y_channels, p.k);
}

/// Returns whether rows can be cut. Otherwise some rows of x are in no piece.
bool can_cut_rows(const ConvProblem& p) {
  return p.direction != ConvDirection::backward_data || p.stride[0] <= reach(p);
}

/// The smallest number of channels that a piece can have.
PieceSize channel_units(const ConvProblem& p) {
  if (p.groups == 1) return {};
  return {.x_channels = p.c / p.groups, .y_channels = p.k / p.groups};
}

/// Tries coarse sizes in all combinations. Then improves the best ones along two axes at a time,
/// until no size is faster. One axis at a time (section 3.4) finds up to 40 % longer times.
class PieceSearch {
 public:
  PieceSearch(const ConvProblem& problem, uint64_t most_bytes, const pieces::PieceCosts& costs)
      : problem_(problem), most_bytes_(most_bytes), costs_(costs), units_(channel_units(problem)) {
    const bool grouped = problem.groups > 1;
    const std::array<int64_t, kAxes> lengths = {problem.n, grouped ? 1 : problem.c,
                                                grouped ? problem.groups : problem.k,
                                                rows_of_result(problem)};
    for (size_t axis = 0; axis < kAxes; ++axis) {
      const bool whole = axis == kRows && !can_cut_rows(problem);
      sizes_[axis] = whole ? std::vector{lengths[axis]} : pieces::piece_sizes(lengths[axis]);
      coarse_[axis] = {lengths[axis]};
      while (!whole && coarse_[axis].back() > 1)
        coarse_[axis].push_back(ceil_div(coarse_[axis].back(), 2));
    }
  }

  std::optional<PieceSize> run() {
    std::vector<Found> starts;
    for (const int64_t rows : coarse_[kRows]) {
      Found start;
      start.size[kRows] = rows;
      try_coarse(start.size, 0, start);
      if (start.seconds) starts.push_back(start);
    }
    if (starts.empty()) return {};
    Found best = *std::ranges::min_element(starts, {}, &Found::seconds);
    const double far = kFar * *best.seconds;
    for (const Found& start : starts) {
      if (*start.seconds > far) continue;
      const Found found = improved(start);
      if (*found.seconds < *best.seconds) best = found;
    }
    const Found whole = with_all_channels();
    const bool is_close = whole.seconds && *whole.seconds <= kClose * *best.seconds;
    return piece_size(is_close ? whole.size : best.size);
  }

 private:
  enum Axis : size_t { kImages, kXChannels, kYChannels, kRows, kAxes };
  using Size = std::array<int64_t, kAxes>;
  static constexpr double kFar = 1.5;  // times the best start's time; slower ones are not improved
  // Times the best size's time. Up to this time, pieces with all channels are taken, because the
  // rate of the whole problem is known.
  static constexpr double kClose = 1.03;
  struct Found {
    Size size{};
    std::optional<double> seconds = {};  // nothing: no size that was tried fits
  };

  PieceSize piece_size(const Size& size) const {
    const int64_t y = size[kYChannels], x = problem_.groups == 1 ? size[kXChannels] : y;
    return {size[kImages], size[kRows], x * units_.x_channels, y * units_.y_channels};
  }

  /// Tries all coarse lengths of the axes from `axis` to kRows.
  void try_coarse(Size size, size_t axis, Found& best) const {
    if (axis == kRows) {
      attempt(size, best);
      return;
    }
    for (const int64_t length : coarse_[axis]) {
      size[axis] = length;
      try_coarse(size, axis + 1, best);
    }
  }

  Found improved(Found best) const {
    double before;
    do {
      before = *best.seconds;
      for (size_t first = 0; first < kAxes; ++first)
        for (size_t second = first + 1; second < kAxes; ++second) improve(first, second, best);
    } while (*best.seconds < before);
    return best;
  }

  Found with_all_channels() const {
    Found best;
    best.size[kXChannels] = sizes_[kXChannels].back();
    best.size[kYChannels] = sizes_[kYChannels].back();
    improve(kImages, kRows, best);
    return best;
  }

  /// Tries each number of pieces along both axes.
  void improve(size_t first, size_t second, Found& best) const {
    Size size = best.size;
    for (const int64_t length : sizes_[first]) {
      size[first] = length;
      for (const int64_t other : sizes_[second]) {
        size[second] = other;
        if (attempt(size, best)) continue;
        size[second] = sizes_[second].back();  // without a cut, less memory may be necessary
        attempt(size, best);
        break;
      }
    }
  }

  /// Returns false if the size does not fit. A larger one that is still cut does not fit either.
  bool attempt(const Size& size, Found& best) const {
    const PieceSize pieces = piece_size(size);
    if (piece_bytes(problem_, pieces) > most_bytes_) return false;
    const double seconds = predict_seconds(problem_, pieces, costs_);
    if (!best.seconds || seconds < *best.seconds) best = {size, seconds};
    return true;
  }

  const ConvProblem& problem_;
  const uint64_t most_bytes_;  // of a piece
  const pieces::PieceCosts& costs_;
  const PieceSize units_;
  std::array<std::vector<int64_t>, kAxes> sizes_, coarse_;  // channels of groups count in groups
};

/// Returns whether a piece of backward_filter has the first rows of all.
bool begins_all(const ConvPiece& piece) { return piece.first_image == 0 && piece.y.first == 0; }

/// Adds a piece for each range of groups.
void add_groups(std::vector<ConvPiece>& pieces, const ConvProblem& p, const PieceSize& size,
                ConvPiece piece) {
  const PieceSize units = channel_units(p);
  const int64_t groups = size.y_channels / units.y_channels;
  for (int64_t group = 0; group < p.groups; group += groups) {
    piece.problem.groups = std::min(groups, p.groups - group);
    piece.problem.c = piece.problem.groups * units.x_channels;
    piece.problem.k = piece.problem.groups * units.y_channels;
    piece.first_x_channel = group * units.x_channels;
    piece.first_y_channel = group * units.y_channels;
    if (p.direction == ConvDirection::backward_filter) piece.begins = begins_all(piece);
    pieces.push_back(piece);
  }
}

/// Adds a piece for each range of channels of the result, and of the channels that are summed.
void add_channels(std::vector<ConvPiece>& pieces, const ConvProblem& p, const PieceSize& size,
                  ConvPiece piece) {
  const bool data = p.direction == ConvDirection::backward_data;
  int64_t x = 0, y = 0;
  int64_t &result = data ? x : y, &sum = data ? y : x;
  const int64_t results = data ? p.c : p.k, sums = data ? p.k : p.c;
  const int64_t result_size = data ? size.x_channels : size.y_channels;
  const int64_t sum_size = data ? size.y_channels : size.x_channels;
  for (result = 0; result < results; result += result_size)
    for (sum = 0; sum < sums; sum += sum_size) {
      piece.problem.c = std::min(size.x_channels, p.c - x);
      piece.problem.k = std::min(size.y_channels, p.k - y);
      piece.first_x_channel = x;
      piece.first_y_channel = y;
      const bool adds = p.direction == ConvDirection::backward_filter;
      piece.begins = adds ? begins_all(piece) : sum == 0;
      piece.ends = adds || sum + sum_size >= sums;
      pieces.push_back(piece);
    }
}

}  // namespace

PieceSize smallest_piece(const ConvProblem& p) {
  PieceSize size = channel_units(p);
  if (!can_cut_rows(p)) size.rows = p.h;
  return size;
}

int64_t piece_count(const ConvProblem& p, const PieceSize& size) {
  const PieceCounts counts = counts_of(p, size);
  return counts.outer() * counts.sums;
}

pieces::PieceCosts convolution_costs(const ConvProblem& p, const DeviceRates& rates,
                                     std::optional<double> seconds) {
  pieces::PieceCosts costs = pieces::piece_costs(rates);
  if (seconds && p.flops() > 0) costs.multiply_add = *seconds / (p.flops() / 2);
  return costs;
}

uint64_t piece_bytes(const ConvProblem& p, const PieceSize& size) {
  const PieceTensors tensors = tensors_of(p, size);
  uint64_t bytes = tensors.x_bytes + tensors.y_bytes + filter_bytes(p, size);
  if (counts_of(p, size).sums == 1) return bytes;
  if (p.direction == ConvDirection::forward) bytes += tensors.y_bytes;
  if (p.direction == ConvDirection::backward_data) bytes += tensors.x_bytes;
  return bytes;
}

double predict_seconds(const ConvProblem& p, const PieceSize& size,
                       const pieces::PieceCosts& costs) {
  const PieceTensors tensors = tensors_of(p, size);
  const PieceCounts counts = counts_of(p, size);
  const auto seconds = [&](uint64_t bytes, int64_t copies, double byte) {
    return byte * static_cast<double>(bytes) + costs.copy * static_cast<double>(copies);
  };
  const double x_in = seconds(tensors.x_bytes, tensors.x_copies, costs.to_device);
  const double y_in = seconds(tensors.y_bytes, tensors.y_copies, costs.to_device);
  const bool forward = p.direction == ConvDirection::forward;
  const bool data = p.direction == ConvDirection::backward_data;
  const auto outer = static_cast<double>(counts.outer()), sums = static_cast<double>(counts.sums);
  const auto results = static_cast<double>(counts.results);

  // Seconds of one piece, and of all pieces of one result. A shared tensor is copied once.
  double in, in_of_result, out = 0;
  if (forward || data) {
    in = forward ? x_in : y_in;
    in_of_result = counts.sums > 1 ? sums * in : in / results;
    out = forward ? seconds(tensors.y_bytes, tensors.y_copies, costs.to_host)
                  : seconds(tensors.x_bytes, tensors.x_copies, costs.to_host);
  } else {
    in = x_in + y_in;
    in_of_result = (counts.sums > 1 ? sums * x_in : x_in / results) + y_in;
  }
  double compute = costs.start + share_of(p, size) * p.flops() / 2 * costs.multiply_add +
                   2 * static_cast<double>(filter_bytes(p, size)) * costs.byte;
  if (sums > 1 && (forward || data))
    compute += 3 * static_cast<double>(forward ? tensors.y_bytes : tensors.x_bytes) * costs.byte;
  return in + compute + out + (sums - 1) * std::max(in, compute) +
         (outer - 1) * std::max({in_of_result, sums * compute, out});
}

std::optional<PieceSize> choose_pieces(const ConvProblem& p, uint64_t most_bytes,
                                       const pieces::PieceCosts& costs) {
  return PieceSearch(p, most_bytes, costs).run();
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
      if (p.groups > 1)
        add_groups(pieces, p, size, piece);
      else
        add_channels(pieces, p, size, piece);
    }
  return pieces;
}

}  // namespace kaiseki::conv
