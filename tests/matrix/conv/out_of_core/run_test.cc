// SPDX-License-Identifier: MIT
// Convolutions whose tensors do not fit the device give the results of those that fit.
#include "matrix/conv/out_of_core/run.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/error.h"
#include "matrix/conv/out_of_core/split.h"
#include "matrix/conv/select.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/memory_room.h"
#include "tests/support/reference.h"
#include "tests/support/simulated_link.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

struct Case {
  Shape x, filter;
  Conv2d conv;
};

/// Sides of odd lengths, and rows of x that no row of y reads.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{1, 4, 300, 301}, {5, 4, 3, 3}, {.padding = {1, 1}}},
      {{2, 4, 200, 301},
       {5, 4, 4, 4},
       {.stride = {2, 2}, .padding = {0, 1}, .end_padding = {{2, 2}}}},
      {{7, 3, 211, 97}, {8, 3, 5, 5}, {.stride = {2, 2}, .padding = {2, 2}}},
      {{3, 8, 101, 130}, {8, 4, 3, 1}, {.padding = {2, 0}, .dilation = {2, 1}, .groups = 2}},
      {{2, 6, 200, 150}, {6, 6, 1, 1}, {}},
      {{2, 3, 322, 140}, {4, 3, 7, 7}, {.stride = {4, 4}, .padding = {3, 3}}},
      // Little memory has no room for a row of all channels.
      {{2, 12, 5, 8003}, {10, 12, 3, 3}, {.padding = {1, 1}}},
      {{1, 12, 4, 9001}, {9, 4, 1, 3}, {.groups = 3}},
      {{6, 8, 41, 701}, {5, 8, 1, 1}, {.stride = {2, 2}}},
  };
  return all;
}

struct Results {
  std::vector<float> y, dx, dfilter;
};

/// Computes all directions. The tensors x, y and their gradients are made while `bytes` are free.
Results compute(const Case& test, Device device, std::optional<uint64_t> bytes) {
  const Tensor filter = test::random_tensor(test.filter, 2, device);
  const Tensor bias = test::random_tensor({test.filter[0]}, 3, device);
  for (const Tensor* small : {&filter, &bias}) small->buffer().on_device(Access::read);
  Tensor dfilter = test::random_tensor(test.filter, 5, device);
  dfilter.buffer().on_device(Access::read);
  const ConvProblem p = conv_problem(test.x, test.filter, test.conv);
  const Shape out = {p.n, p.k, p.out_h(), p.out_w()};
  std::optional<test::WithRoom> room;
  if (bytes) room.emplace(device, *bytes);
  Results results;
  {
    const Tensor x = test::random_tensor(test.x, 1, device);
    Tensor y(out, DType::f32, device);
    conv2d_into(y, x, filter, test.conv, {.bias = &bias, .activation = Activation::relu});
    results.y = y.to_vector();
  }
  {
    const Tensor dy = test::random_tensor(out, 4, device);
    Tensor dx(test.x, DType::f32, device);
    conv2d_backward_data_into(dx, dy, filter, test.conv);
    results.dx = dx.to_vector();
    const Tensor x = test::random_tensor(test.x, 1, device);
    dx = Tensor();
    conv2d_backward_filter_into(dfilter, x, dy, test.conv, 0.5f);
    results.dfilter = dfilter.to_vector();
  }
  return results;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

/// While it lives, counts the convolutions of fewer input or output channels than `whole`.
class CutChannels {
 public:
  explicit CutChannels(const ConvProblem& whole) {
    observe_convolutions([this, whole](Backend&, const ConvProblem& p) {
      count_ += p.c < whole.c || p.k < whole.k;
    });
  }
  ~CutChannels() { observe_convolutions({}); }
  CutChannels(const CutChannels&) = delete;
  int count() const { return count_; }

 private:
  int count_ = 0;
};

/// Counts how often the pieces give each element of a column of the result.
void check_covered(const ConvProblem& p, const conv::PieceSize& size) {
  const bool data = p.direction == ConvDirection::backward_data;
  const bool filter = p.direction == ConvDirection::backward_filter;
  const int64_t channels = data ? p.c : p.k, rows = data ? p.h : p.out_h();
  std::vector<int> begun(static_cast<size_t>(p.n * channels * rows)), ended = begun;
  int64_t products = 0;
  for (const conv::ConvPiece& piece : conv::divide(p, size)) {
    const ConvProblem& part = piece.problem;
    CHECK((piece.y.count == 0 || part.out_h() == piece.y.count));
    CHECK(piece.x.at >= 0);
    CHECK(piece.x.at + piece.x.count <= part.h);
    CHECK(static_cast<uint64_t>(part.n *
                                (part.c * part.h * p.w + part.k * piece.y.count * p.out_w())) *
              sizeof(float) <=
          conv::piece_bytes(p, size));
    const conv::PieceRows& own = data ? piece.x : piece.y;
    products += part.n * own.count * part.c * part.k / part.groups;
    const int64_t first = data ? piece.first_x_channel : piece.first_y_channel;
    for (int64_t n = 0; n < part.n; ++n)
      for (int64_t channel = first; channel < first + (data ? part.c : part.k); ++channel)
        for (int64_t row = own.first; row < own.first + own.count; ++row) {
          const auto i =
              static_cast<size_t>(((piece.first_image + n) * channels + channel) * rows + row);
          begun[i] += piece.begins || filter;
          ended[i] += piece.ends;
        }
  }
  CHECK(products == p.n * rows * p.c * p.k / p.groups);
  if (filter) return;  // each of its elements is a sum over all images and rows
  CHECK(begun == std::vector<int>(begun.size(), 1));
  CHECK(ended == begun);
}

}  // namespace

TEST_CASE("out of core: the pieces cover each element of the result once") {
  for (const Case& test : cases())
    for (const ConvDirection direction :
         {ConvDirection::forward, ConvDirection::backward_data, ConvDirection::backward_filter}) {
      ConvProblem p = conv_problem(test.x, test.filter, test.conv);
      p.direction = direction;
      CAPTURE(p.str());
      const int64_t rows = direction == ConvDirection::backward_data ? p.h : p.out_h();
      const bool whole_rows = conv::smallest_piece(p).rows > 1;
      for (const int64_t least : {int64_t{1}, int64_t{7}, rows}) {
        const int64_t part = whole_rows ? rows : least;
        check_covered(p, {1, part, p.c, p.k});
        check_covered(p, {2, part, p.c, p.k});
        if (p.groups > 1)
          check_covered(p, {1, part, p.c / p.groups, p.k / p.groups});
        else
          check_covered(p, {2, part, std::min<int64_t>(2, p.c), std::min<int64_t>(3, p.k)});
      }
    }
}

TEST_CASE("out of core: results equal those of a device with enough memory") {
  opencl::OpenclBackend* backend = test::opencl_or_null();
  if (!backend) return;
  const Device device = Device::opencl(0);
  test::WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);
  for (const opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu}) {
    test::WithStyle with(backend->opencl(), style);
    for (const Case& test : cases()) {
      CAPTURE(test.x.str());
      const ConvProblem p = conv_problem(test.x, test.filter, test.conv);
      const Results whole = compute(test, device, {});
      const uint64_t larger =
          sizeof(float) *
          std::max<uint64_t>(static_cast<uint64_t>(test.x.elements()),
                             static_cast<uint64_t>(p.n * p.k * p.out_h() * p.out_w()));
      for (const double part : {1.2, 0.8, 0.4}) {
        CAPTURE(part);
        const uint64_t fallbacks = fallback_count();
        const Results pieces =
            compute(test, device, static_cast<uint64_t>(part * static_cast<double>(larger)));
        CHECK(fallback_count() == fallbacks);
        // A sum of up to 200 products of numbers up to 1, and in the filter's gradient 90,000.
        CHECK(largest_difference(pieces.y, whole.y) < 2e-5);
        CHECK(largest_difference(pieces.dx, whole.dx) < 2e-5);
        CHECK(largest_difference(pieces.dfilter, whole.dfilter) < 5e-3);
      }
    }
  }
  device.workspace().set_limit({});
}

TEST_CASE("out of core: a convolution on the CPU runs in pieces over a link") {
  const Device device = Device::cpu();
  test::WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);
  const test::SimulatedLink link(4e9);
  const Case& test = cases()[0];
  const Tensor x = test::random_tensor(test.x, 1), filter = test::random_tensor(test.filter, 2);
  const ConvProblem p = conv_problem(test.x, test.filter, test.conv);
  Tensor expected({p.n, p.k, p.out_h(), p.out_w()}, DType::f32, device);
  conv2d_into(expected, x, filter, test.conv);
  const TransferCount before = transfer_count();
  Tensor y;
  {
    x.buffer().leave_device();
    const test::WithRoom room(device, x.bytes() / 2);
    y = Tensor(expected.shape(), DType::f32, device);
    CHECK(y.buffer().left_device());
    conv2d_into(y, x, filter, test.conv);
    CHECK(y.buffer().left_device());
    CHECK_THROWS_AS(y.to_vector(), OutOfMemory);  // a program needs all of it
  }
  CHECK(largest_difference(y.to_vector(), expected.to_vector()) < 1e-5);
  CHECK(transfer_count().to_host_bytes - before.to_host_bytes >= x.bytes() + y.bytes());
  device.workspace().set_limit({});
}

TEST_CASE("out of core: the activation follows the sum over all channels") {
  const Device device = Device::cpu();
  test::WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);
  const test::SimulatedLink link(4e9);
  const Case& test = cases()[5];
  const Tensor x = test::random_tensor(test.x, 1), filter = test::random_tensor(test.filter, 2);
  const Tensor bias = test::random_tensor({test.filter[0]}, 3);
  const ConvProblem p = conv_problem(test.x, test.filter, test.conv);
  const uint64_t row = conv::piece_bytes(p, {1, 1, p.c, p.k});
  for (const Activation activation : kActivations) {
    CAPTURE(activation_name(activation));
    const ConvEpilogue epilogue{.bias = &bias, .activation = activation, .slope = 0.3f};
    Tensor expected({p.n, p.k, p.out_h(), p.out_w()}, DType::f32, device);
    conv2d_into(expected, x, filter, test.conv, epilogue);
    Tensor y(expected.shape(), DType::f32, device);
    x.buffer().leave_device();
    y.buffer().leave_device();
    {
      const test::WithRoom room(device, row / 2);
      const CutChannels cut(p);
      conv2d_into(y, x, filter, test.conv, epilogue);
      CHECK(cut.count() > 1);
    }
    CHECK(largest_difference(y.to_vector(), expected.to_vector()) < 2e-5);
  }
  device.workspace().set_limit({});
}

TEST_CASE("out of core: gradients with channels that are cut, on the CPU") {
  const Device device = Device::cpu();
  test::WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);
  const test::SimulatedLink link(4e9);
  for (const size_t i : {5, 6}) {
    const Case& test = cases()[i];
    CAPTURE(test.x.str());
    const Tensor x = test::random_tensor(test.x, 1), filter = test::random_tensor(test.filter, 2);
    ConvProblem p = conv_problem(test.x, test.filter, test.conv);
    const Tensor dy = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 4);
    Tensor dx(test.x, DType::f32, device), dx_whole(test.x, DType::f32, device);
    Tensor dfilter = test::random_tensor(test.filter, 5), dfilter_whole = dfilter.clone();
    conv2d_backward_data_into(dx_whole, dy, filter, test.conv);
    conv2d_backward_filter_into(dfilter_whole, x, dy, test.conv, 0.5f);
    for (const Tensor* large : {&x, &dy, static_cast<const Tensor*>(&dx)})
      large->buffer().leave_device();
    p.direction = ConvDirection::backward_data;
    {
      const test::WithRoom room(device, conv::piece_bytes(p, {1, 1, p.c, p.k}) / 2);
      const CutChannels cut(p);
      conv2d_backward_data_into(dx, dy, filter, test.conv);
      const int data = cut.count();
      CHECK(data > 1);
      conv2d_backward_filter_into(dfilter, x, dy, test.conv, 0.5f);
      CHECK(cut.count() > data + 1);
    }
    CHECK(largest_difference(dx.to_vector(), dx_whole.to_vector()) < 2e-5);
    CHECK(largest_difference(dfilter.to_vector(), dfilter_whole.to_vector()) < 5e-3);
  }
  device.workspace().set_limit({});
}

TEST_CASE("out of core: the smallest piece is enough, also for a sum over channels") {
  const Device device = Device::cpu();
  test::WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);
  const test::SimulatedLink link(4e9);
  const Tensor x = test::random_tensor({1, 4, 1, 100'000}, 1);
  const Tensor filter = test::random_tensor({1, 4, 1, 1}, 2);
  Tensor expected({1, 1, 1, 100'000}, DType::f32, device), y(expected.shape(), DType::f32, device);
  conv2d_into(expected, x, filter, {});
  x.buffer().leave_device();
  y.buffer().leave_device();
  {
    const ConvProblem p = conv_problem(x.shape(), filter.shape(), {});
    const uint64_t bytes = conv::piece_bytes(p, conv::smallest_piece(p));
    const test::WithRoom room(device, bytes + bytes / 8 + (64 << 10));  // blocks are rounded up
    const CutChannels cut(p);
    conv2d_into(y, x, filter, {});
    CHECK(cut.count() == 4);
  }
  CHECK(largest_difference(y.to_vector(), expected.to_vector()) < 1e-5);
  device.workspace().set_limit({});
}

TEST_CASE("out of core: without room for one row, the error tells the bytes that are missing") {
  if (!test::opencl_or_null()) return;
  const Case& test = cases()[0];
  CHECK_THROWS_WITH_AS(compute(test, Device::opencl(0), 4096), doctest::Contains("asked for"),
                       OutOfMemory);
}

}  // namespace kaiseki
