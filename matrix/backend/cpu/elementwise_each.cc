// SPDX-License-Identifier: MIT
// The instructions of elementwise expressions that Highway lacks, element by element.
#include <cmath>

#include "matrix/backend/cpu/elementwise_kernels.h"

namespace kaiseki::cpu {
namespace {

using Code = Expression::Code;

/// Wraps around as the vector instructions do.
int32_t wrapped(int64_t value) { return static_cast<int32_t>(static_cast<uint64_t>(value)); }

/// out[i] = f(a[i], b[i]). If b has no values, f gets a[i] twice.
template <class T, class Function>
void each(const BlockOperand& a, const BlockOperand& b, T* out, size_t count, Function f) {
  const T* x = static_cast<const T*>(a.values);
  const T* y = static_cast<const T*>(b.values ? b.values : a.values);
  const size_t x_step = a.scalar ? 0 : 1, y_step = b.scalar ? 0 : 1;
  for (size_t i = 0; i < count; ++i) out[i] = f(x[i * x_step], y[i * y_step]);
}

float modulo_of(float a, float b) {
  const float r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0f, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

/// Rounds (a - a % b) / b, which is close to an integer, to that integer.
float floor_divide_of(float a, float b) {
  if (b == 0) return a / b;
  const float r = std::fmod(a, b);
  float quotient = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0f, a / b);
  const float whole = std::floor(quotient);
  return quotient - whole > 0.5f ? whole + 1 : whole;
}

int32_t floor_divide_of(int32_t a, int32_t b) {
  if (b == 0) return 0;
  const int64_t x = a, y = b;
  return wrapped(x / y - (x % y != 0 && (x < 0) != (y < 0)));
}

int32_t modulo_of(int32_t a, int32_t b) {
  if (b == 0 || b == -1) return 0;
  const int32_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

int32_t remainder_of(int32_t a, int32_t b) { return b == 0 || b == -1 ? 0 : a % b; }

int32_t power_of(int32_t base, int32_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint32_t result = 1, square = static_cast<uint32_t>(base);
  for (auto rest = static_cast<uint32_t>(exponent); rest; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return static_cast<int32_t>(result);
}

int32_t shift_left_of(int32_t a, int32_t b, int32_t bits) {
  return b >= 0 && b < bits ? static_cast<int32_t>(static_cast<uint32_t>(a) << b) : 0;
}

int32_t shift_right_of(int32_t a, int32_t b) { return a >> (b >= 0 && b < 32 ? b : 31); }

}  // namespace

int32_t lane_mask(DType type) {
  switch (type) {
    case DType::boolean:
      return 1;
    case DType::u8:
      return 255;
    case DType::i32:
    case DType::f32:
    case DType::f64:  // elementwise() refuses it
      break;
  }
  return -1;
}

void run_each_float(Code code, const BlockOperand& a, const BlockOperand& b, float* out,
                    size_t count) {
  auto run = [&](auto f) { each<float>(a, b, out, count, f); };
  switch (code) {
    case Code::power:
      return run([](float x, float y) { return std::pow(x, y); });
    case Code::tangent:
      return run([](float x, float) { return std::tan(x); });
    case Code::arc_tangent2:
      return run([](float x, float y) { return std::atan2(x, y); });
    case Code::hyperbolic_sine:
      return run([](float x, float) { return std::sinh(x); });
    case Code::hyperbolic_cosine:
      return run([](float x, float) { return std::cosh(x); });
    case Code::arc_hyperbolic_sine:
      return run([](float x, float) { return std::asinh(x); });
    case Code::arc_hyperbolic_cosine:
      // Emscripten's acosh() is no NaN for some numbers below 1.
      return run([](float x, float) { return x < 1 ? NAN : std::acosh(x); });
    case Code::arc_hyperbolic_tangent:
      return run([](float x, float) { return std::atanh(x); });
    case Code::exponential_m1:
      return run([](float x, float) { return std::expm1(x); });
    case Code::exponential_2:
      return run([](float x, float) { return std::exp2(x); });
    case Code::cube_root:
      return run([](float x, float) { return std::cbrt(x); });
    case Code::hypotenuse:
      return run([](float x, float y) { return std::hypot(x, y); });
    case Code::error_function:
      return run([](float x, float) { return std::erf(x); });
    case Code::complementary_error_function:
      return run([](float x, float) { return std::erfc(x); });
    case Code::floor_divide:
      return run([](float x, float y) { return floor_divide_of(x, y); });
    case Code::modulo:
      return run([](float x, float y) { return modulo_of(x, y); });
    case Code::remainder:
      return run([](float x, float y) { return std::fmod(x, y); });
    default:
      break;  // the other instructions have vector code
  }
}

void run_each_integer(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                      int32_t* out, size_t count) {
  const int32_t mask = lane_mask(in.type), bits = in.type == DType::u8 ? 8 : 32;
  auto run = [&](auto f) { each<int32_t>(a, b, out, count, f); };
  switch (in.code) {
    case Code::power:
      return run([mask](int32_t x, int32_t y) { return power_of(x, y) & mask; });
    case Code::floor_divide:
      return run([](int32_t x, int32_t y) { return floor_divide_of(x, y); });
    case Code::modulo:
      return run([](int32_t x, int32_t y) { return modulo_of(x, y); });
    case Code::remainder:
      return run([](int32_t x, int32_t y) { return remainder_of(x, y); });
    case Code::shift_left:
      return run([=](int32_t x, int32_t y) { return shift_left_of(x, y, bits) & mask; });
    case Code::shift_right:
      return run([](int32_t x, int32_t y) { return shift_right_of(x, y); });
    default:
      break;  // the other instructions have vector code
  }
}

}  // namespace kaiseki::cpu
