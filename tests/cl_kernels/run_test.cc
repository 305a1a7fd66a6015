// SPDX-License-Identifier: MIT
// Runs every kernel, in both styles, on small tensors and compares the results with the CPU
// backend. The tensors are small enough for oclgrind.sh, which runs this executable.
#include <doctest/doctest.h>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/gemm_kernels.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/opencl.h"
#include "matrix/ops/cluster.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/ops/cumulative.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/ops/norm.h"
#include "matrix/ops/normalize.h"
#include "matrix/ops/pooling.h"
#include "matrix/ops/random.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/softmax.h"
#include "matrix/ops/sort.h"
#include "tests/cl_kernels/compare.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/reference.h"

namespace kaiseki {
namespace {

using test::compare;
using test::random_tensor;
using test::Results;

Tensor labels(Device device) {
  std::vector<int32_t> values = {1, -1, 0, 2};
  return Tensor::from(std::span<const int32_t>(values), Shape{4}, device);
}

ConvProblem odd_problem(int64_t c, int64_t k, int64_t h, int64_t w, int64_t taps, int64_t groups) {
  ConvProblem p{.n = 2, .c = c, .h = h, .w = w, .k = k, .r = taps, .s = taps};
  p.padding = {taps / 2, taps / 2};
  p.groups = groups;
  return p;
}

/// Compares the result with a solver of the CPU.
void check_convolution(const ConvSolver& solver, const ConvProblem& p) {
  INFO(std::string(solver.name()), " ", p.str());
  const bool forward = p.direction == ConvDirection::forward;
  auto run = [&](Device device, const ConvSolver& chosen) {
    Tensor x = random_tensor(Shape{p.n, p.c, p.h, p.w}, 1, device);
    Tensor filter = random_tensor(Shape{p.k, p.c / p.groups, p.r, p.s}, 2, device);
    Tensor y = random_tensor(Shape{p.n, p.k, p.out_h(), p.out_w()}, 3, device);
    Tensor bias = random_tensor(Shape{p.k}, 4, device), workspace;
    ConvArgs args{.x = &x, .filter = &filter, .y = &y, .bias = forward ? &bias : nullptr};
    if (uint64_t bytes = chosen.workspace_bytes(p)) {
      workspace = Tensor(Shape{static_cast<int64_t>(bytes)}, DType::u8, device);
      args.workspace = &workspace;
    }
    chosen.run(p, args);
    return forward ? y : p.direction == ConvDirection::backward_data ? x : filter;
  };
  const ConvSolver* reference = nullptr;
  for (const ConvSolver* s : Device::cpu().backend().conv_solvers())
    if (!reference && s->applicable(p)) reference = s;
  REQUIRE(reference);
  const double allowed = solver.name().find("winograd") == std::string_view::npos ? 1e-5 : 1e-4;
  test::check_close(run(Device::opencl(0), solver), test::doubles(run(Device::cpu(), *reference)),
                    allowed, allowed);
}

constexpr ConvDirection kDirections[] = {ConvDirection::forward, ConvDirection::backward_data,
                                         ConvDirection::backward_filter};

/// Runs the solvers with names that start with `name`, or all other solvers.
void check_convolutions(std::string_view name, bool others) {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  ConvProblem problems[] = {
      {.n = 2, .c = 2, .h = 5, .w = 6, .k = 3, .r = 3, .s = 3, .padding = {1, 1}},
      {.n = 1, .c = 4, .h = 6, .w = 18, .k = 4, .r = 2, .s = 3, .groups = 2},
      {.n = 1, .c = 1, .h = 1, .w = 56, .k = 2, .r = 1, .s = 1, .padding = {0, 20}},
      {.n = 2, .c = 3, .h = 5, .w = 3, .k = 2, .r = 1, .s = 1},
      {.n = 2,
       .c = 2,
       .h = 5,
       .w = 19,
       .k = 4,
       .r = 3,
       .s = 2,
       .stride = {1, 2},
       .padding = {1, 1},
       .groups = 2},
      {.n = 2,
       .c = 2,
       .h = 5,
       .w = 7,
       .k = 2,
       .r = 3,
       .s = 2,
       .stride = {2, 1},
       .padding = {1, 0}}};
  for (ConvProblem p : problems)
    for (opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu}) {
      test::WithStyle with(backend->opencl(), style);
      for (const ConvSolver* solver : backend->conv_solvers())
        for (ConvDirection direction : kDirections) {
          p.direction = direction;
          if (solver->applicable(p) && solver->name().starts_with(name) != others)
            check_convolution(*solver, p);
        }
    }
}

}  // namespace

TEST_CASE("kernels: copies, fills, rows") {
  compare([](Device device) -> Results {
    Tensor x = random_tensor(Shape{2, 3, 4}, 1, device),
           wide = random_tensor(Shape{3, 45}, 4, device);
    int order[] = {2, 0, 1};
    Tensor bytes = Tensor::zeros(Shape{3, 2}, DType::u8, device);
    std::vector<uint8_t> counted = {0, 1, 2, 3, 4, 5, 6, 7};
    Tensor pictures = Tensor::from(std::span<const uint8_t>(counted), Shape{4, 2}, device);
    Tensor numbers(Shape{5}, DType::i32, device), table = random_tensor(Shape{4, 3}, 2, device);
    fill(numbers, -7);
    Tensor sums = table.clone(), rows = labels(device);
    std::vector<int32_t> valid = {3, 0, 3};
    Tensor picked = Tensor::from(std::span<const int32_t>(valid), Shape{3}, device);
    add_at(sums, picked, random_tensor(Shape{3, 3}, 3, device), 0);
    Tensor put_rows = table.clone(), counts = Tensor::zeros(Shape{4}, DType::i32, device);
    put(put_rows, picked, random_tensor(Shape{3, 3}, 3, device), 0);
    add_at(counts, picked, ones(Shape{3}, DType::i32, device), 0);
    Tensor ranks = argsort(table, 0), scattered = table.clone();
    scatter(scattered, ranks, table, 0);
    Random random(5);
    return {x.permute(order).clone(),
            x.slice(1, 1, 2).clone(),
            wide.slice(1, 3, 40).clone(),
            bytes.transpose().clone(),
            numbers,
            Tensor::full(Shape{3}, 1.5f, device),
            take(table, picked, 0),
            take(bytes, picked.slice(0, 1, 1), 0),
            take(pictures, picked, 0),
            gather(table, ranks, 0),
            put_rows,
            counts,
            scattered,
            tril(table),
            triu(pictures, -1),
            randi(-5, 5, Shape{9}, random, device),
            sums};
  });
}

TEST_CASE("kernels: folds, scans and sorts") {
  compare([](Device device) -> Results {
    Tensor x = random_tensor(Shape{3, 37}, 1, device),
           edges = sort(random_tensor(Shape{9}, 2, device));
    Tensor whole = arange(-50, 61, 1, DType::i32, device).reshape(Shape{3, 37});
    Tensor long_row = arange(0, 3000, 1, DType::i32, device);
    return {prod(x, {1}),
            prod(x, {0}),
            sum(whole, {0}),
            sum(long_row),
            max(whole, {1}),
            min(whole),
            sum(any(whole, {0})),
            sum(all(whole, {1})),
            argmax(whole, 0),
            cumsum(x, 1),
            cumsum(whole, 0),
            cumprod(whole, 1),
            cummax(x, 0),
            cummin(whole, 1),
            sort(x, 1),
            argsort(x, 0, true),
            argsort(whole, 1, true),
            topk(x, 3, 1).indices,
            topk(long_row, 5, 0, false).indices,
            topk(cast(whole, DType::u8), 2, 1).indices,
            searchsorted(edges, x),
            searchsorted(edges, x, true)};
  });
}

TEST_CASE("kernels: distances from centers, and sums of clusters") {
  compare([](Device device) -> Results {
    Results all;
    for (const int64_t features : {3, 70}) {
      Tensor x = random_tensor(Shape{37, features}, 1, device);
      Tensor centers = random_tensor(Shape{5, features}, 2, device);
      NearestLabels nearest = nearest_labels(x, centers);
      all.insert(all.end(), {squared_distances(x, centers), nearest.labels, nearest.squares,
                             cluster_sums(x, nearest.labels, 5)});
    }
    return all;
  });
}

TEST_CASE("kernels: elementwise expressions in every layout") {
  compare([](Device device) -> Results {
    Tensor x = random_tensor(Shape{2, 3, 5}, 1, device), c = random_tensor(Shape{3, 1}, 2, device);
    Tensor wide = random_tensor(Shape{3, 70}, 3, device), one = random_tensor(Shape{1}, 4, device);
    Tensor v = x.clone(), w = x.clone();
    update("v = 0.9*v - lr*g; w = w + v", {{"v", v}, {"w", w}, {"g", x}, {"lr", 0.1f}});
    return {elementwise("max(x, 0) * c + y", {{"x", x}, {"c", c}, {"y", one}}),
            elementwise("x > c ? tanh(x) : exp(-x)", {{"x", wide}, {"c", c}}), v, w};
  });
}

TEST_CASE("kernels: elementwise expressions of every type") {
  compare([](Device device) -> Results {
    const Tensor x = random_tensor(Shape{5, 7}, 1, device, -300, 300);
    const Tensor i = cast(x, DType::i32), u = cast(x, DType::u8), b = cast(u, DType::boolean),
                 row = i.slice(0, 1, 1);
    return {i,
            cast(u, DType::i32),
            cast(b, DType::i32),
            elementwise("i // r + i % r - fmod(i, r) + pow(i, 2)", {{"i", i}, {"r", row}}),
            elementwise("i32((u << 3) + (u >> 1) ^ ~u | 5)", {{"u", u}}),
            elementwise("b && i > k ? f32(u) * 0.5 : x // 7 + x % 7",
                        {{"b", b}, {"i", i}, {"k", 3}, {"u", u}, {"x", x}})};
  });
}

TEST_CASE("kernels: matrix products by every candidate") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for (opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu})
    for (auto& candidate : opencl::gemm_candidates(style))
      for (int transposed = 0; transposed < 4; ++transposed) {
        const bool in_parts = candidate.name == "tiled 64 in parts";
        if (!candidate.is_own && !in_parts) continue;  // they do not serve these products
        INFO(std::string(candidate.name), " transposed ", transposed);
        bool trans_a = transposed & 1, trans_b = transposed & 2;
        // All tiles share one source, and oclgrind takes long for the large ones.
        const bool is_large = candidate.name.starts_with("tiled") && candidate.name != "tiled 32";
        if (is_large && trans_a != trans_b) continue;
        int64_t m = 7, n = 18, k = in_parts ? 260 : 5;
        Tensor a = random_tensor(trans_a ? Shape{k, m} : Shape{m, k}, 1);
        Tensor b = random_tensor(trans_b ? Shape{n, k} : Shape{k, n}, 2);
        Tensor c = random_tensor(Shape{m, n}, 3), bias = random_tensor(Shape{n}, 4);
        Tensor x = a.to(Device::opencl(0)), y = b.to(Device::opencl(0)),
               z = c.to(Device::opencl(0)), shift = bias.to(Device::opencl(0));
        gemm(a, b, c,
             {.transpose_a = trans_a,
              .transpose_b = trans_b,
              .beta = 0.5f,
              .bias_per_column = &bias,
              .activation = Activation::relu});
        GemmArgs args{.trans_a = trans_a, .trans_b = trans_b, .m = m, .n = n, .k = k, .beta = 0.5f};
        args.a = &x;
        args.b = &y;
        args.c = &z;
        args.lda = trans_a ? m : k;
        args.ldb = trans_b ? k : n;
        args.ldc = n;
        args.bias = &shift;
        args.bias_kind = GemmArgs::Bias::per_column;
        args.activation = Activation::relu;
        candidate.run(backend->opencl(), args);
        test::check_close(z, test::doubles(c), 1e-5, 1e-5);
      }
  Tensor a = Tensor::full(Shape{2, 3}, 2, Device::opencl(0)),
         y(Shape{4}, DType::f32, Device::opencl(0));
  opencl::Launch(backend->opencl(), "gemm_check.cl", "gemm_check")
      .index(2)
      .index(2)
      .index(2)
      .index(3)
      .index(3)
      .index(1)
      .index(1)
      .index(3)
      .index(0)
      .index(0)
      .in(a)
      .in(a)
      .out(y)
      .over(2);
  CHECK(y.to_vector() == std::vector<float>{12, 12, 12, 12});
}

TEST_CASE("kernels: reductions, in one step and in two") {
  compare([](Device device) -> Results {
    Tensor x = random_tensor(Shape{2, 3, 70}, 1, device),
           y = random_tensor(Shape{300, 2}, 2, device);
    Tensor out = Tensor::full(Shape{3}, 1, device);
    reduce_into(out, Reduction::sum, x, {0, 2}, 0.5f);
    return {sum(x),
            mean(x, {2}),
            max(x, {0}),
            min(x, {0, 2}),
            sum(y, {0}),
            out,
            reduce(Reduction::sum_of_squares, x, {1}),
            sum(random_tensor(Shape{8200}, 3, device)),
            argmax(x, 1),
            argmin(x, 2)};
  });
}

TEST_CASE("kernels: softmax and cross-entropy") {
  compare([](Device device) -> Results {
    Tensor x = random_tensor(Shape{2, 130}, 1, device),
           dy = random_tensor(Shape{2, 130}, 2, device);
    Tensor y = softmax(x), log_y = log_softmax(x), logits = random_tensor(Shape{4, 3}, 3, device);
    CrossEntropy loss = softmax_cross_entropy(logits, labels(device));
    return {y,
            log_y,
            softmax_backward(y, dy),
            log_softmax_backward(log_y, dy),
            softmax(x, 0),
            loss.losses,
            loss.probabilities,
            softmax_cross_entropy_backward(loss.probabilities, labels(device), 0.25f)};
  });
}

TEST_CASE("kernels: pooling") {
  compare([](Device device) -> Results {
    Pooling2d pooling{.window = {3, 2}, .stride = {2, 1}, .padding = {1, 0}};
    Tensor x = random_tensor(Shape{1, 2, 5, 6}, 1, device);
    Shape shape = pooling2d_shape(x.shape(), pooling);
    Tensor y(shape, DType::f32, device), indices(shape, DType::i32, device),
        average(shape, DType::f32, device), padded(shape, DType::f32, device);
    Tensor dx(x.shape(), DType::f32, device), average_dx(x.shape(), DType::f32, device),
        dy = random_tensor(shape, 2, device);
    max_pool2d_into(y, indices, x, pooling);
    max_pool2d_backward_into(dx, dy, indices, pooling);
    average_pool2d_into(average, x, pooling);
    average_pool2d_backward_into(average_dx, dy, pooling);
    pooling.count_padding = true;
    average_pool2d_into(padded, x, pooling);
    std::vector<int32_t> outside = {30, -1, 1 << 20, 10};  // outside a plane of 4 x 4
    Tensor wrong = Tensor::from(std::span<const int32_t>(outside), Shape{1, 1, 2, 2}, device);
    Tensor small_dx(Shape{1, 1, 4, 4}, DType::f32, device);
    max_pool2d_backward_into(small_dx, random_tensor(Shape{1, 1, 2, 2}, 3, device), wrong, {});
    return {y, indices, dx, average, average_dx, padded, small_dx};
  });
}

TEST_CASE("kernels: normalization") {
  // Whole vectors, single values, and a channel of several parts on GPUs.
  for (const Shape& shape : {Shape{2, 3, 4, 9}, Shape{3, 2, 7, 7}, Shape{5, 2, 64, 36}})
    for (bool relu : {false, true})
      compare([&](Device device) -> Results {
        Shape channels{shape[1]};
        auto ones = [&] { return Tensor::full(channels, 1, device); };
        Tensor x = random_tensor(shape, 1, device), dy = random_tensor(shape, 2, device);
        Tensor gamma = random_tensor(channels, 3, device),
               beta = random_tensor(channels, 4, device);
        Tensor mean = ones(), var = ones(), batch_mean = ones(), inv_std = ones(), dgamma = ones(),
               dbeta = ones();
        auto empty = [&] { return Tensor(shape, DType::f32, device); };
        Tensor y = empty(), inferred = empty(), dx = empty(), response = empty(),
               response_dx = empty();
        batch_norm_train(
            {.x = x, .gamma = gamma, .beta = beta, .y = y, .norm = {.relu = relu}},
            {.running_mean = mean, .running_var = var, .mean = batch_mean, .inv_std = inv_std});
        batch_norm_infer(
            {.x = x, .gamma = gamma, .beta = beta, .y = inferred, .norm = {.relu = relu}}, mean,
            var);
        batch_norm_backward({.x = x,
                             .dy = dy,
                             .gamma = gamma,
                             .mean = batch_mean,
                             .inv_std = inv_std,
                             .dx = dx,
                             .dgamma = dgamma,
                             .dbeta = dbeta});
        lrn_into(response, x, {.size = 2});
        lrn_backward_into(response_dx, x, response, dy, {.size = 2});
        return {y, mean, var, inferred, dx, dgamma, dbeta, response, response_dx};
      });
}

TEST_CASE("kernels: bytes to floats") {
  compare([](Device device) -> Results {
    Results results;
    for (int64_t side : {1, 7}) {
      const Shape shape{2, 3, side, side};
      std::vector<uint8_t> bytes(static_cast<size_t>(shape.elements()));
      Random random(1);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.below(256));
      const Tensor x = Tensor::from(std::span<const uint8_t>(bytes), shape, device);
      results.push_back(normalize(x, std::vector{0.5f, 0.25f, 0.75f}, std::vector{0.5f}));
    }
    return results;
  });
}

TEST_CASE("kernels: random numbers") {
  compare([](Device device) -> Results {
    Random random(1, 2);
    random.seek(3);
    Tensor uniform(Shape{7}, DType::f32, device), normal(Shape{5}, DType::f32, device),
        kept(Shape{9}, DType::f32, device);
    random_uniform_into(uniform, random, -1, 2);
    random_normal_into(normal, random);
    random_bernoulli_into(kept, random, 0.5f, 2);
    return {uniform, normal, kept};
  });
}

// These two cases are separate because oclgrind 21.10 crashes on them. It follows uninitialized
// values through a vector that is joined from two vectors.
TEST_CASE("kernels: direct convolution (joins vectors)") {
  check_convolutions("opencl_direct", false);
}

TEST_CASE("kernels: pooling of 2 x 2 (joins vectors)") {
  compare([](Device device) -> Results {
    Results results;
    for (Shape shape : {Shape{2, 1, 8, 8}, Shape{1, 1, 4, 16}, Shape{1, 1, 3, 33}}) {
      Tensor x = random_tensor(shape, 1, device);
      Shape half = pooling2d_shape(shape, {});
      Tensor y(half, DType::f32, device), indices(half, DType::i32, device);
      max_pool2d_into(y, indices, x, {});
      results.push_back(y);
      results.push_back(indices);
    }
    return results;
  });
}

TEST_CASE("kernels: Winograd's convolution, even if it is slower") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for (opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu}) {
    test::WithStyle with(backend->opencl(), style);
    for (int64_t form : {0, 1, 2})
      for (ConvDirection direction : kDirections) {
        ConvProblem p = odd_problem(4, 4, 5, 9, form == 1 ? 5 : 3, form == 0 ? 2 : 1);
        p.direction = direction;
        check_convolution(*opencl::conv_winograd_solvers(style)[static_cast<size_t>(form)], p);
      }
  }
}

TEST_CASE("kernels: convolution by Fourier transforms") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for (opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu}) {
    test::WithStyle with(backend->opencl(), style);
    for (const ConvSolver* solver : opencl::conv_fft_solvers(style))
      for (ConvDirection direction : kDirections) {
        ConvProblem p = odd_problem(2, 3, 3, 13, 5, 1);
        p.direction = direction;
        // oclgrind takes long for the products of each frequency, so the 544 products run only
        // once.
        const bool once = style == opencl::Style::cpu && direction == ConvDirection::forward;
        const bool turned = direction == ConvDirection::backward_data;
        if (once || (solver->name().ends_with("16x16") && (style == opencl::Style::cpu || !turned)))
          check_convolution(*solver, p);
      }
  }
}

TEST_CASE("kernels: convolution by every other solver") {
  check_convolutions("opencl_direct", true);
}

TEST_CASE("kernels: a minimum number of them ran") {
  if (!test::opencl_or_null()) return;
  OpenclKernelCount count = opencl_kernel_count();
  MESSAGE(count.distinct << " kernels ran, in " << count.launches << " launches");
  CHECK(count.distinct >= 200);
}

}  // namespace kaiseki
