// SPDX-License-Identifier: MIT
#include "tests/support/lie.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/sha256.h"
#include "dist/train/ticket.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "matrix/random.h"

namespace kaiseki::test {
namespace {

using namespace dist;

constexpr uint64_t kDirection = 99, kNoise = 7;  // seeds

Tensor normal(const Shape& shape, uint64_t seed, uint64_t stream) {
  Tensor values(shape, DType::f32, Device::cpu());
  Random random(seed, stream);
  float* out = values.overwrite<float>();
  for (int64_t i = 0; i < values.size(); ++i) out[i] = random.normal();
  return values;
}

float norm(const Tensor& x) { return std::sqrt(reduce(Reduction::sum_of_squares, x).item()); }

Tensor drifted(const Tensor& value, double factor) {
  const Tensor direction = normal(value.shape(), kDirection, static_cast<uint64_t>(value.size()));
  const float length = norm(direction);
  const float step = length > 0 ? static_cast<float>(factor) * norm(value) / length : 0;
  return elementwise("x + s*d", {{"x", value}, {"s", step}, {"d", direction}});
}

WireTensor wrong(const Attack& attack, WireTensor given, int64_t answered) {
  Tensor& value = given.value;
  switch (attack.lie) {
    case Lie::sign_flipped:
      value = elementwise("-x", {{"x", value}});
      break;
    case Lie::scaled:
      value = elementwise("s*x", {{"x", value}, {"s", static_cast<float>(attack.factor)}});
      break;
    case Lie::drifted:
      value = drifted(value, attack.factor);
      break;
    case Lie::wrong_shape:
      value = Tensor::zeros({1}, DType::f32, Device::cpu());
      break;
    case Lie::wrong_type:
      given.type = given.type == WireType::f32 ? WireType::f16 : WireType::f32;
      break;
    case Lie::noise:
      value = elementwise(
          "x * (1 + 0.5*r)",
          {{"x", value}, {"r", normal(value.shape(), kNoise, static_cast<uint64_t>(answered))}});
      break;
    default:
      break;
  }
  return given;
}

/// The ticket with labels exchanged in pairs: 0 with 1, 2 with 3. Unchanged if it has no labels.
ByteVector with_flipped_labels(ByteView bytes) {
  TrainingTicket ticket = decode_ticket(bytes);
  if (!ticket.labels.defined()) return {bytes.begin(), bytes.end()};
  int32_t* labels = ticket.labels.mutable_data<int32_t>();
  for (int64_t i = 0; i < ticket.labels.size(); ++i) labels[i] ^= 1;
  return encode_ticket(ticket);
}

}  // namespace

ByteVector Liar::operator()(ByteView ticket, const LocalCompute& compute) {
  const bool lies = attack_.lies(answered_);
  const bool flips = lies && attack_.lie == Lie::label_flipped;
  ByteVector result = compute(flips ? with_flipped_labels(ticket) : ticket);
  const ByteVector last = std::exchange(last_, result);
  if (lies) result = lie_about(std::move(result), ticket, last);
  ++answered_;
  return result;
}

ByteVector Liar::lie_about(ByteVector result, ByteView ticket, const ByteVector& last) const {
  if (attack_.lie == Lie::replayed) return last.empty() ? result : last;
  if (attack_.lie == Lie::oversized) {
    result.resize(result.size() * 4 + 4096);
    return result;
  }
  if (attack_.lie == Lie::not_finite) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(&result[result.size() - 8], &nan, 4);
    return result;
  }
  TensorMessage message = decode_tensors(result, "result");
  if (attack_.lie == Lie::label_flipped) message.texts["ticket"] = sha256(ticket);
  const std::vector<WireType> types = wire_types(result);
  std::vector<WireTensor> tensors;
  for (size_t i = 0; i < message.tensors.size(); ++i) {
    const auto& [name, value] = message.tensors[i];
    tensors.push_back(wrong(attack_, {name, value, types[i]}, answered_));
  }
  return encode_tensors(tensors, message.texts);
}

}  // namespace kaiseki::test
