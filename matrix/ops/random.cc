// SPDX-License-Identifier: MIT
#include "matrix/ops/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/random.h"
#include "matrix/ops/check.h"
#include "matrix/ops/index.h"
#include "matrix/out_of_core/divide.h"

namespace kaiseki {
namespace {

void run(RandomArgs::Kind kind, Tensor& out, Random& random, float a, float b,
         uint64_t words_each) {
  check_operand(out, "the result", out.shape(), out, "random");
  if (out.size() == 0) return;
  const RandomArgs args{kind, a, b, random.seed(), random.stream(), random.position(), &out};
  run_divisible(kRandom, out, args);
  random.seek(random.position() + words_each * static_cast<uint64_t>(out.size()));
}

}  // namespace

void random_uniform_into(Tensor& out, Random& random, float low, float high) {
  require(low <= high, "random", "expected low <= high, got ", low, " and ", high);
  run(RandomArgs::Kind::uniform, out, random, low, high, 1);
}

void random_normal_into(Tensor& out, Random& random, float mean, float deviation) {
  require(deviation >= 0, "random", "expected a deviation of 0 or more, got ", deviation);
  run(RandomArgs::Kind::normal, out, random, mean, deviation, 2);
}

void random_bernoulli_into(Tensor& out, Random& random, float probability, float value) {
  require(probability >= 0 && probability <= 1, "random",
          "expected a probability from 0 to 1, got ", probability);
  run(RandomArgs::Kind::bernoulli, out, random, probability, value, 1);
}

Tensor randi(int64_t low, int64_t high, const Shape& shape, Random& random, Device device) {
  constexpr int64_t kLowest = std::numeric_limits<int32_t>::min();
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  require(kLowest <= low && low < high && high - 1 <= kHighest && high - low < int64_t{1} << 32,
          "randi", "expected a range of i32 with low < high, got ", low, " and ", high);
  Tensor out(shape, DType::i32, device);
  if (out.size() == 0) return out;
  run_operation(kRandomIntegers, out,
                {static_cast<int32_t>(low), static_cast<uint32_t>(high - low), random.seed(),
                 random.stream(), random.position(), &out});
  random.seek(random.position() + static_cast<uint64_t>(out.size()));
  return out;
}

Tensor permutation(int64_t n, Random& random, Device device) {
  return choice(n, n, random, false, device);
}

Tensor shuffle(const Tensor& x, Random& random, int axis) {
  check_defined(x, "x", "shuffle");
  return take(x, permutation(x.dim(axis), random, x.device()), axis);
}

Tensor choice(int64_t n, int64_t count, Random& random, bool replace, Device device) {
  constexpr std::string_view kName = "choice";
  require(n >= 0 && n <= std::numeric_limits<int32_t>::max(), kName,
          "expected n from 0 to 2^31 - 1, got ", n);
  require(count >= 0 && (count == 0 || n > 0) && (replace || count <= n), kName,
          replace ? "expected a count of 0 or more, got " : "expected a count from 0 to n, got ",
          count, " of ", n);
  if (replace)
    return count ? randi(0, n, {count}, random, device) : Tensor({0}, DType::i32, device);
  std::vector<int32_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    std::swap(numbers[i], numbers[i + random.below(numbers.size() - i)]);
  return Tensor::from(std::span<const int32_t>(numbers).first(static_cast<size_t>(count)), {count},
                      device);
}

Tensor choice(const Tensor& weights, int64_t count, Random& random) {
  constexpr std::string_view kName = "choice";
  check_tensor(weights, "weights", kName);
  require(weights.rank() == 1, kName, "expected weights of rank 1, got ", weights.shape());
  require(count >= 0, kName, "expected a count of 0 or more, got ", count);
  std::vector<double> sums;
  double total = 0;
  for (float weight : weights.to_vector()) {
    require(weight >= 0 && std::isfinite(weight), kName,
            "expected finite weights of 0 or more, got ", weight);
    sums.push_back(total += static_cast<double>(weight));
  }
  require(total > 0 || count == 0, kName, "expected weights with a sum above 0, got ", total);
  std::vector<int32_t> chosen;
  for (int64_t i = 0; i < count; ++i) {
    // 53 bits: with the 24 of uniform(), small or many weights would never be chosen.
    const uint64_t high = random.next() >> 5, low = random.next() >> 6;
    const double at = static_cast<double>(high << 26 | low) * 0x1p-53 * total;
    // The product may round up to the total. An index without weight is never chosen.
    const auto place = at < total ? std::upper_bound(sums.begin(), sums.end(), at)
                                  : std::lower_bound(sums.begin(), sums.end(), total);
    chosen.push_back(static_cast<int32_t>(place - sums.begin()));
  }
  return Tensor::from(std::span<const int32_t>(chosen), {count}, weights.device());
}

}  // namespace kaiseki
