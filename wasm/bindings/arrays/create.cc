// SPDX-License-Identifier: MIT
// New tensors of regular and of random values (matrix/ops/create.h, copy.h, random.h).
#include "matrix/ops/create.h"

#include "matrix/ops/copy.h"
#include "matrix/ops/random.h"
#include "wasm/bindings/arrays/operation.h"

namespace kaiseki::wasm {

template <>
inline constexpr std::array<std::string_view, 2> kNames<GridOrder>{"xy", "ij"};

namespace {

Tensor arange_of(double start, std::optional<double> stop, double step, DType dtype) {
  return stop ? arange(start, *stop, step, dtype) : arange(0, start, step, dtype);
}

Tensor choose(const std::variant<int64_t, Tensor*>& from, int64_t count, Random& random,
              bool replace) {
  if (const int64_t* n = std::get_if<int64_t>(&from)) return choice(*n, count, random, replace);
  if (!replace) throw Error(message("choice", "expected replace with weights, got false"));
  return choice(*std::get<Tensor*>(from), count, random);
}

}  // namespace

void add_create_operations(OperationGroup&& table) {
  table.add("empty(shape, dtype = \"f32\")", "A tensor with any values.",
            [](const Shape& shape, DType dtype) { return Tensor(shape, dtype); });
  table.add("zeros(shape, dtype = \"f32\")", "A tensor of zeros.",
            [](const Shape& shape, DType dtype) { return Tensor::zeros(shape, dtype); });
  table.add("ones(shape, dtype = \"f32\")", "A tensor of ones.",
            [](const Shape& shape, DType dtype) { return ones(shape, dtype); });
  table.add("full(shape, value)", "A tensor f32 of one value.",
            [](const Shape& shape, float value) { return Tensor::full(shape, value); });
  table.add("zeros_like(x)", "Zeros of the shape and type of x.", zeros_like);
  table.add("ones_like(x)", "Ones of the shape and type of x.", ones_like);
  table.add("full_like(x, value)", "One value in the shape and type of x.", full_like);
  table.add("arange(start, stop = null, step = 1, dtype = \"f32\")",
            "start, start + step, ... before stop. Without a stop: 0, step, ... before start.",
            arange_of);
  table.add("linspace(start, stop, count, endpoint = true)",
            "count values (f32) at equal distances, with stop as the last one if endpoint is set.",
            [](double start, double stop, int64_t count, bool endpoint) {
              return linspace(start, stop, count, endpoint);
            });
  table.add("eye(rows, columns = null, diagonal = 0, dtype = \"f32\")",
            "1 where column - row = diagonal, else 0. Without columns the matrix is square.",
            [](int64_t rows, std::optional<int64_t> columns, int64_t diagonal, DType dtype) {
              return eye(rows, columns.value_or(rows), diagonal, dtype);
            });
  table.add("diag(x, diagonal = 0)",
            "From a vector, the matrix with this diagonal. From a matrix, its diagonal.", diag);
  table.add(
      "tri(rows, columns, diagonal = 0)", "1 where column - row <= diagonal, else 0. f32.",
      [](int64_t rows, int64_t columns, int64_t diagonal) { return tri(rows, columns, diagonal); });
  table.add("triu(x, diagonal = 0)", "x with 0 below the diagonal of the last two axes.", triu);
  table.add("tril(x, diagonal = 0)", "x with 0 above the diagonal of the last two axes.", tril);
  table.add("meshgrid(axes, order = \"xy\")",
            "The coordinates of a grid, one tensor for each axis.", meshgrid);
  table.add("one_hot(indices, classes, dtype = \"f32\")",
            "1 at the index (i32) of each row of length classes, else 0.", one_hot);
  table.add("fill(x, value)", "Sets all elements of a contiguous tensor.", fill);
  table.add("copy(from, to)", "Copies the elements to a tensor or view of the same shape and type.",
            [](const Tensor& from, Tensor& to) { copy_into(to, from); });
  table.add("concatenate(parts, axis)", "Joins tensors along an axis.", concatenate);

  table.add("random(seed, stream = 0)",
            "A generator of random numbers, the same ones on every machine.",
            [](int64_t seed, int64_t stream) {
              return Random(static_cast<uint64_t>(seed), static_cast<uint64_t>(stream));
            });
  table.add("random_uniform(x, random, low = 0, high = 1)", "Sets all elements, from [low, high).",
            random_uniform_into);
  table.add("random_normal(x, random, mean = 0, deviation = 1)",
            "Sets all elements, from a normal distribution.", random_normal_into);
  table.add("random_bernoulli(x, random, probability, value = 1)",
            "Sets each element to value with this probability, else to 0.", random_bernoulli_into);
  table.add("randi(low, high, shape, random)", "Integers (i32) from low to high - 1.",
            [](int64_t low, int64_t high, const Shape& shape, Random& random) {
              return randi(low, high, shape, random);
            });
  table.add("permutation(n, random)", "0 to n - 1 (i32) in random order.",
            [](int64_t n, Random& random) { return permutation(n, random); });
  table.add("shuffle(x, random, axis = 0)", "A copy of x in random order along the axis.", shuffle);
  table.add("choice(n, count, random, replace = true)",
            "count of the numbers 0 to n - 1 (i32). n may be the weights of the numbers.", choose);
}

}  // namespace kaiseki::wasm
