// SPDX-License-Identifier: MIT
// Operations whose tensors do not fit the device give the results of those that fit.
#include "matrix/out_of_core/run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "matrix/conv/select.h"
#include "matrix/memory/allocator.h"
#include "matrix/ops/conv_pooling.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/norm.h"
#include "matrix/ops/pooling.h"
#include "matrix/ops/random.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/softmax.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/memory_room.h"
#include "tests/support/reference.h"
#include "tests/support/simulated_link.h"

namespace kaiseki {
namespace {

using Tensors = std::vector<Tensor>;

/// An operation that makes its results from the inputs. It may change the inputs.
struct Subject {
  const char* name;
  std::vector<Shape> inputs;
  std::function<Tensors(Tensors& inputs)> run;
  double tolerance = 0;  // 0: the same bits
};

/// Tensors below 1 MiB do not leave a device.
const Shape kOdd = {3, 17, 101, 97}, kOneImage = {1, 13, 173, 149}, kOneChannel = {11, 1, 173, 149};

std::vector<Subject> elementwise_subjects() {
  std::vector<Subject> all;
  for (const Shape& shape : {kOdd, kOneImage, kOneChannel}) {
    all.push_back({"relu", {shape}, [](Tensors& x) {
                     return Tensors{elementwise("x < 0 ? 0 : x", {{"x", x[0]}})};
                   }});
    all.push_back({"relu in place, and its gradient", {shape, shape}, [](Tensors& x) {
                     elementwise_into(x[0], "x < 0 ? 0 : x", {{"x", x[0]}});
                     elementwise_into(x[1], "y > 0 ? g : 0", {{"y", x[0]}, {"g", x[1]}});
                     return x;
                   }});
    all.push_back({"bias of a channel", {shape, {shape[1], 1, 1}}, [](Tensors& x) {
                     elementwise_into(x[0], "tanh(y + b)", {{"y", x[0]}, {"b", x[1]}});
                     return Tensors{x[0]};
                   }});
    all.push_back({"two results", {shape, shape}, [](Tensors& x) {
                     update("a = a + 2 * b; b = sigmoid(a)", {{"a", x[0]}, {"b", x[1]}});
                     return x;
                   }});
  }
  all.push_back({"a tensor of one element, and integers", {{3, 700, 701}, {1}}, [](Tensors& x) {
                   const Tensor large = elementwise("i32(100 * x * s)", {{"x", x[0]}, {"s", x[1]}});
                   return Tensors{cast(large, DType::u8), cast(large, DType::f32)};
                 }});
  all.push_back({"views", {kOdd, kOdd}, [](Tensors& x) {
                   const int order[] = {0, 2, 1, 3};
                   const Tensor a = x[0].slice(1, 0, 11), b = x[1].slice(1, 6, 11);
                   return Tensors{a * b, a.permute(order) + b.permute(order)};
                 }});
  all.push_back({"one row of each image", {kOdd, {3, 1, 1, 97}}, [](Tensors& x) {
                   return Tensors{x[0] * x[1]};
                 }});
  return all;
}

std::vector<Subject> copy_subjects() {
  return {{"concatenation, slices, fill",
           {{5, 6, 101, 97}, {5, 9, 101, 97}},
           [](Tensors& x) {
             const Tensor all = concatenate(x, 1);
             const Tensor part = all.slice(1, 2, 7).clone();
             const int order[] = {3, 0, 2, 1};
             Tensor filled(all.shape(), DType::f32, all.device());
             fill(filled, 3);
             return Tensors{all,    part,         x[1].permute(order).contiguous(),
                            filled, x[0].clone(), concatenate(x, -3)};
           }},
          {"dropout", {{3, 400, 401}}, [](Tensors& x) {
             Random random(7, 3);
             Tensor mask(x[0].shape(), DType::f32, x[0].device());
             Tensor noise(x[0].shape(), DType::f32, x[0].device());
             random_bernoulli_into(mask, random, 0.7f, 1 / 0.7f);
             random_normal_into(noise, random, 1, 2);
             return Tensors{mask, noise, x[0] * mask};
           }}};
}

std::vector<Subject> pooling_subjects() {
  std::vector<Subject> all;
  for (const Shape& shape : {kOdd, kOneImage, kOneChannel})
    for (const Pooling2d& pooling :
         {Pooling2d{}, Pooling2d{.window = {3, 3}, .stride = {1, 1}, .padding = {1, 1}},
          Pooling2d{.window = {3, 2}, .stride = {2, 3}, .padding = {1, 0}, .ceil_mode = true},
          Pooling2d{.window = {shape[2], shape[3]}, .stride = {shape[2], shape[3]}}}) {
      const Shape out = pooling2d_shape(shape, pooling);
      all.push_back({"pooling", {shape, out}, [=](Tensors& x) {
                       const auto of = [&](const Shape& like, DType type = DType::f32) {
                         return Tensor(like, type, x[0].device());
                       };
                       // Small tensors must have room, so they are made first.
                       Tensor y = of(out), indices = of(out, DType::i32), mean = of(out);
                       Tensor dx = of(shape), dmean = of(shape);
                       max_pool2d_into(y, indices, x[0], pooling);
                       max_pool2d_backward_into(dx, x[1], indices, pooling);
                       average_pool2d_into(mean, x[0], pooling);
                       average_pool2d_backward_into(dmean, x[1], pooling);
                       return Tensors{y, indices, dx, mean, dmean};
                     }});
    }
  return all;
}

std::vector<Subject> conv_pooling_subjects() {
  std::vector<Subject> all;
  for (const Shape& shape : {Shape{11, 5, 83, 81}, kOdd, kOneImage}) {
    const Shape filter = {13, shape[1], 3, 3};
    const Conv2d conv{.padding = {1, 1}};
    const Shape pooled = {shape[0], 13, shape[2] / 2, shape[3] / 2};
    // Another solver may compute a piece. Gradients of filters have the most terms, 74,000.
    all.push_back({"convolution with pooling",
                   {shape, filter, {13}, pooled, filter, {shape[0], 13, shape[2], shape[3]}},
                   [=](Tensors& x) {
                     // Small tensors must have room, so they are made first.
                     Tensor y(pooled, DType::f32, x[0].device()),
                         largest(pooled, DType::f32, x[0].device()), dx;
                     Tensor indices(pooled, DType::i32, x[0].device());
                     conv2d_max_pool({.x = x[0],
                                      .filter = x[1],
                                      .bias = &x[2],
                                      .conv = conv,
                                      .y = y,
                                      .indices = &indices,
                                      .activation = Activation::relu});
                     // Almost equal outputs could have other places in another solver.
                     max_pool2d_into(largest, indices, x[5], {});
                     conv2d_max_pool_backward({.x = x[0],
                                               .filter = x[1],
                                               .dy = x[3],
                                               .indices = indices,
                                               .conv = conv,
                                               .dfilter = x[4],
                                               .beta = 0.5f,
                                               .dx = &dx});
                     return Tensors{y, dx, x[4], indices, largest};
                   },
                   1e-3});
  }
  return all;
}

std::vector<Subject> norm_subjects() {
  std::vector<Subject> all;
  for (const Shape& shape : {kOdd, kOneImage, Shape{37, 64, 300}, Shape{2111, 301}}) {
    const Shape channels = {shape[1]};
    all.push_back(
        {"batch normalization",
         {shape, shape, channels, channels, channels, channels, channels, channels},
         [=](Tensors& in) {
           const Tensor &x = in[0], &dy = in[1], &gamma = in[2], &beta = in[3];
           Tensor &mean = in[4], &var = in[5], &dgamma = in[6], &dbeta = in[7];
           const auto of = [&](const Shape& like) { return Tensor(like, DType::f32, x.device()); };
           Tensor batch_mean = of(channels), inv_std = of(channels);
           Tensor y = of(shape), again = of(shape), tested = of(shape), dx = of(shape);
           batch_norm_train({x, gamma, beta, y, {.relu = true}}, {mean, var, batch_mean, inv_std});
           batch_norm_apply({x, gamma, beta, again, {.relu = true}}, batch_mean, inv_std);
           elementwise_into(var, "abs(v) + 1", {{"v", var}});
           batch_norm_infer({x, gamma, beta, tested, {}}, mean, var);
           batch_norm_backward({x, dy, gamma, batch_mean, inv_std, dx, dgamma, dbeta});
           Tensor in_place = x;
           batch_norm_apply({x, gamma, beta, in_place, {}}, batch_mean, inv_std);
           return Tensors{y,    again, tested, dx,    batch_mean, inv_std,
                          mean, var,   dgamma, dbeta, in_place};
         }});
  }
  for (const Shape& shape : {kOdd, kOneImage, kOneChannel})
    all.push_back({"local response normalization", {shape, shape}, [=](Tensors& x) {
                     Tensor y(shape, DType::f32, x[0].device());
                     Tensor dx(shape, DType::f32, x[0].device());
                     lrn_into(y, x[0], {.size = 3, .alpha = 0.5f});
                     lrn_backward_into(dx, x[0], y, x[1], {.size = 3, .alpha = 0.5f});
                     return Tensors{y, dx};
                   }});
  return all;
}

std::vector<Subject> row_subjects() {
  std::vector<Subject> all;
  // Another kernel may compute a product of fewer rows, in another order. It has up to 3001 terms.
  constexpr double kProduct = 1e-4;
  all.push_back(
      {"fully connected",
       {{301, 3001}, {101, 3001}, {101}, {301, 101}, {101, 3001}},
       [](Tensors& in) {
         Tensor y({301, 101}, DType::f32, in[0].device());
         gemm(in[0], in[1], y,
              {.transpose_b = true, .bias_per_column = &in[2], .activation = Activation::relu});
         Tensor dx({301, 3001}, DType::f32, in[0].device());
         gemm(in[3], in[1], dx);
         gemm(in[3], in[0], in[4], {.transpose_a = true, .beta = 0.5});
         return Tensors{y, dx, in[4]};
       },
       kProduct});
  all.push_back({"products of a batch",
                 {{9, 150, 501}, {9, 501, 203}},
                 [](Tensors& in) { return Tensors{matmul(in[0], in[1])}; },
                 kProduct});
  all.push_back({"transposed products of a batch",
                 {{9, 150, 501}, {9, 501, 203}},
                 [](Tensors& in) { return Tensors{matmul(in[1], in[0], true, true)}; },
                 kProduct});
  all.push_back({"products with one matrix",
                 {{9, 501, 203}, {150, 501}},
                 [](Tensors& in) { return Tensors{matmul(in[1], in[0])}; },
                 kProduct});
  all.push_back({"softmax", {{3001, 101}, {3, 301, 331}}, [](Tensors& x) {
                   const Tensor rows = softmax(x[0], 1), middle = log_softmax(x[1], 1);
                   return Tensors{rows, middle, softmax_backward(rows, x[0], 1),
                                  log_softmax_backward(middle, x[1], 1)};
                 }});
  all.push_back(
      {"cross-entropy", {{3001, 101}}, [](Tensors& x) {
         const Tensor labels =
             cast(elementwise("0 * a", {{"a", x[0].slice(1, 0, 1)}}), DType::i32).reshape({3001});
         const CrossEntropy result = softmax_cross_entropy(x[0], labels);
         return Tensors{result.probabilities, result.losses,
                        softmax_cross_entropy_backward(result.probabilities, labels, 0.5f)};
       }});
  all.push_back({"sums of channels", {kOdd, {17}, {3}}, [](Tensors& x) {
                   reduce_into(x[1], Reduction::sum, x[0], {0, 2, 3}, 0.5f);
                   reduce_into(x[2], Reduction::mean, x[0], {1, 2, 3}, 1);
                   return Tensors{x[1], x[2], max(x[0], {2, 3}), sum(x[0], {1})};
                 }});
  // A third of a million numbers up to 1 are added in another order.
  all.push_back({"a sum of all",
                 {kOdd, {}},
                 [](Tensors& x) {
                   reduce_into(x[1], Reduction::sum, x[0], {}, 2);
                   return Tensors{x[1], sum(x[0])};
                 },
                 1e-2});
  return all;
}

constexpr uint64_t kSmallestOutside = uint64_t{1} << 20;  // bytes

struct Computed {
  std::vector<test::Doubles> results;
  uint64_t small_bytes = 0;  // of results that cannot leave the device
};

/// `room`: the bytes on the device besides the inputs that did not leave it. `leaving`: the number
/// of inputs that left it before. Without `room`, all have room.
Computed compute(const Subject& subject, Device device, std::optional<uint64_t> room,
                 size_t leaving) {
  Tensors inputs;
  for (size_t i = 0; i < subject.inputs.size(); ++i)
    inputs.push_back(test::random_tensor(subject.inputs[i], i + 1, device));
  for (const Tensor& input : inputs) input.buffer().return_to_device();
  Computed computed;
  Tensors results;
  if (!room) {
    results = subject.run(inputs);
  } else {
    for (size_t i = 0; i < leaving && i < inputs.size(); ++i)
      if (inputs[i].bytes() >= kSmallestOutside) inputs[i].buffer().leave_device();
    const test::WithRoom with(device, *room);
    const uint64_t before = transfer_count().to_device_bytes;
    results = subject.run(inputs);
    CHECK(transfer_count().to_device_bytes - before >= inputs[0].bytes());
  }
  for (const Tensor& result : results) {
    computed.results.push_back(test::doubles(result));
    if (result.bytes() < kSmallestOutside)
      computed.small_bytes += device.memory().rounded(result.bytes());
  }
  return computed;
}

void check_same(const Subject& subject, const Computed& computed, const Computed& whole) {
  REQUIRE(computed.results.size() == whole.results.size());
  for (size_t i = 0; i < whole.results.size(); ++i) {
    CAPTURE(i);
    test::check_close(computed.results[i], whole.results[i], subject.tolerance, subject.tolerance);
  }
}

/// With `few`, tests only the smaller room, for which all inputs are outside.
void check(const std::vector<Subject>& subjects, Device device, bool few = false) {
  for (const Subject& subject : subjects) {
    const std::string name = subject.name;
    CAPTURE(name);
    CAPTURE(subject.inputs[0].str());
    const Computed whole = compute(subject, device, {}, 0);
    uint64_t largest = 0;
    for (const Shape& shape : subject.inputs)
      largest = std::max(largest, static_cast<uint64_t>(shape.elements()) * sizeof(float));
    const uint64_t fallbacks = fallback_count();
    for (const double room : {0.8, 0.4})
      for (const size_t leaving : {1, 9}) {
        if (few && (room > 0.5 || leaving == 1)) continue;
        CAPTURE(room);
        CAPTURE(leaving);
        const auto bytes = static_cast<uint64_t>(room * static_cast<double>(largest));
        check_same(subject, compute(subject, device, whole.small_bytes + bytes, leaving), whole);
      }
    CHECK(fallback_count() == fallbacks);
  }
}

void check_on_opencl(const std::vector<Subject>& subjects) {
  opencl::OpenclBackend* backend = test::opencl_or_null();
  if (!backend) return;
  for (const opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu}) {
    CAPTURE(static_cast<int>(style));
    test::WithStyle with(backend->opencl(), style);
    check(subjects, Device::opencl(0), style == opencl::Style::gpu);
  }
}

void check_on_cpu(const std::vector<Subject>& subjects) {
  const test::SimulatedLink link(16e9);
  check(subjects, Device::cpu());
}

}  // namespace

TEST_CASE("pieces: a tensor that a kernel allocates finds no room") {
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  const Tensor x = test::random_tensor(kOdd, 1, device), dy = test::random_tensor(kOdd, 2, device);
  Tensor y(kOdd, DType::f32, device), dx(kOdd, DType::f32, device);
  const Lrn norm = {.size = 3, .alpha = 0.5f};
  lrn_into(y, x, norm);
  lrn_backward_into(dx, x, y, dy, norm);
  const std::vector<float> expected = dx.to_vector();
  fill(dx, 0);
  for (const Tensor& tensor : {x, dy, y, dx}) tensor.buffer().return_to_device();
  {
    const test::WithRoom with(device, dx.bytes() / 2);
    lrn_backward_into(dx, x, y, dy, norm);
  }
  CHECK(dx.to_vector() == expected);
}

TEST_CASE("pieces: parts of a batch are as large as there is room") {
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  const Tensor x = test::random_tensor({32, 4, 64, 64}, 1, device);
  const Tensor filter = test::random_tensor({16, 4, 3, 3}, 2, device);
  const Conv2d conv{.padding = {1, 1}};
  Tensor y({32, 16, 32, 32}, DType::f32, device), indices(y.shape(), DType::i32, device);
  for (const Tensor& tensor : {x, filter, y, indices}) tensor.buffer().return_to_device();
  int convolutions = 0;
  observe_convolutions([&](Backend&, const ConvProblem&) { ++convolutions; });
  {
    const test::WithRoom with(device, (4 * x.bytes()) * 3 / 5);  // the output has 4 * x.bytes()
    conv2d_max_pool({.x = x, .filter = filter, .conv = conv, .y = y, .indices = &indices});
  }
  observe_convolutions({});
  CHECK(convolutions >= 2);
  CHECK(convolutions <= 3);
}

TEST_CASE("pieces: elementwise operations") { check_on_opencl(elementwise_subjects()); }
TEST_CASE("pieces: elementwise operations, on the CPU") { check_on_cpu(elementwise_subjects()); }
TEST_CASE("pieces: copies and random numbers") { check_on_opencl(copy_subjects()); }
TEST_CASE("pieces: copies and random numbers, on the CPU") { check_on_cpu(copy_subjects()); }
TEST_CASE("pieces: pooling") { check_on_opencl(pooling_subjects()); }
TEST_CASE("pieces: pooling, on the CPU") { check_on_cpu(pooling_subjects()); }
TEST_CASE("pieces: convolution with pooling") { check_on_opencl(conv_pooling_subjects()); }
TEST_CASE("pieces: convolution with pooling, on the CPU") { check_on_cpu(conv_pooling_subjects()); }
TEST_CASE("pieces: normalization") { check_on_opencl(norm_subjects()); }
TEST_CASE("pieces: normalization, on the CPU") { check_on_cpu(norm_subjects()); }
TEST_CASE("pieces: products, softmax and sums") { check_on_opencl(row_subjects()); }
TEST_CASE("pieces: products, softmax and sums, on the CPU") { check_on_cpu(row_subjects()); }

}  // namespace kaiseki
