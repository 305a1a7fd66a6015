// SPDX-License-Identifier: MIT
#include "matrix/ops/random.h"

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/random.h"
#include "matrix/ops/check.h"

namespace kaiseki {
namespace {

void run(RandomArgs::Kind kind, Tensor& out, Random& random, float a, float b,
         uint64_t words_each) {
  check_operand(out, "the result", out.shape(), out, "random");
  if (out.size() == 0) return;
  const RandomArgs args{kind, a, b, random.seed(), random.stream(), random.position(), &out};
  run_operation(kRandom, out, args);
  random.seek(random.position() + words_each * static_cast<uint64_t>(out.size()));
}

}  // namespace

void random_uniform(Tensor& out, Random& random, float low, float high) {
  require(low <= high, "random", "expected low <= high, got ", low, " and ", high);
  run(RandomArgs::Kind::uniform, out, random, low, high, 1);
}

void random_normal(Tensor& out, Random& random, float mean, float deviation) {
  require(deviation >= 0, "random", "expected a deviation of 0 or more, got ", deviation);
  run(RandomArgs::Kind::normal, out, random, mean, deviation, 2);
}

void random_bernoulli(Tensor& out, Random& random, float probability, float value) {
  require(probability >= 0 && probability <= 1, "random",
          "expected a probability from 0 to 1, got ", probability);
  run(RandomArgs::Kind::bernoulli, out, random, probability, value, 1);
}

}  // namespace kaiseki
