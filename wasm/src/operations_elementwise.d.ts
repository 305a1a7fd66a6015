// SPDX-License-Identifier: MIT
// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/elementwise.cc.
import type { DType } from './arrays_values.js';

export interface ElementwiseMethods<Tensor> {
  /** Writes the values of a formula to a contiguous tensor. */
  elementwise_into(expression: string, bindings: Record<string, Tensor | number>): this;
  /** The elements in another type. */
  cast(dtype: DType): Tensor;
  /** a + b */
  add(b: Tensor | number): Tensor;
  /** a - b */
  subtract(b: Tensor | number): Tensor;
  /** a * b */
  multiply(b: Tensor | number): Tensor;
  /** a / b, f32 */
  divide(b: Tensor | number): Tensor;
  /** a / b, rounded down */
  floor_divide(b: Tensor | number): Tensor;
  /** a % b, with the sign of b */
  remainder(b: Tensor | number): Tensor;
  /** -a */
  negative(): Tensor;
  /** a == b, bool */
  equal(b: Tensor | number): Tensor;
  /** a != b, bool */
  not_equal(b: Tensor | number): Tensor;
  /** a < b, bool */
  less(b: Tensor | number): Tensor;
  /** a <= b, bool */
  less_equal(b: Tensor | number): Tensor;
  /** a > b, bool */
  greater(b: Tensor | number): Tensor;
  /** a >= b, bool */
  greater_equal(b: Tensor | number): Tensor;
  /** a && b, bool */
  logical_and(b: Tensor | number): Tensor;
  /** a || b, bool */
  logical_or(b: Tensor | number): Tensor;
  /** !a, bool */
  logical_not(): Tensor;
  /** a & b, of integers */
  bitwise_and(b: Tensor | number): Tensor;
  /** a | b, of integers */
  bitwise_or(b: Tensor | number): Tensor;
  /** a ^ b, of integers */
  bitwise_xor(b: Tensor | number): Tensor;
  /** ~a, of integers */
  bitwise_not(): Tensor;
  /** a << b, of integers */
  left_shift(b: Tensor | number): Tensor;
  /** a >> b, of integers */
  right_shift(b: Tensor | number): Tensor;
  /** The magnitude. */
  abs(): Tensor;
  /** The arc cosine. */
  acos(): Tensor;
  /** The inverse of cosh(). */
  acosh(): Tensor;
  /** The arc sine. */
  asin(): Tensor;
  /** The inverse of sinh(). */
  asinh(): Tensor;
  /** The arc tangent. */
  atan(): Tensor;
  /** The angle of the point (x, y). */
  atan2(x: Tensor | number): Tensor;
  /** The inverse of tanh(). */
  atanh(): Tensor;
  /** The cube root. */
  cbrt(): Tensor;
  /** Rounds up. */
  ceil(): Tensor;
  /** The nearest value from low to high. */
  clamp(low: Tensor | number, high: Tensor | number): Tensor;
  /** The cosine. */
  cos(): Tensor;
  /** The hyperbolic cosine. */
  cosh(): Tensor;
  /** The error function. */
  erf(): Tensor;
  /** 1 - erf(x), without cancellation. */
  erfc(): Tensor;
  /** e to the power of x. */
  exp(): Tensor;
  /** 2 to the power of x. */
  exp2(): Tensor;
  /** exp(x) - 1, without cancellation. */
  expm1(): Tensor;
  /** Rounds down. */
  floor(): Tensor;
  /** The remainder with the sign of a. */
  fmod(b: Tensor | number): Tensor;
  /** sqrt(a * a + b * b), without overflow. */
  hypot(b: Tensor | number): Tensor;
  /** Whether it is neither infinite nor NaN. */
  isfinite(): Tensor;
  /** Whether it is infinite. */
  isinf(): Tensor;
  /** Whether it is NaN. */
  isnan(): Tensor;
  /** The natural logarithm. */
  log(): Tensor;
  /** The logarithm to base 10. */
  log10(): Tensor;
  /** log(1 + x), without cancellation. */
  log1p(): Tensor;
  /** The logarithm to base 2. */
  log2(): Tensor;
  /** The larger one. NaN if one is NaN. */
  maximum(b: Tensor | number): Tensor;
  /** The smaller one. NaN if one is NaN. */
  minimum(b: Tensor | number): Tensor;
  /** a to the power of b. */
  pow(b: Tensor | number): Tensor;
  /** The nearest integer. Halves go to the even one. */
  round(): Tensor;
  /** 1 / sqrt(x). */
  rsqrt(): Tensor;
  /** 1 / (1 + exp(-x)). */
  sigmoid(): Tensor;
  /** -1, 0 or 1. */
  sign(): Tensor;
  /** The sine. */
  sin(): Tensor;
  /** The hyperbolic sine. */
  sinh(): Tensor;
  /** The square root. */
  sqrt(): Tensor;
  /** The tangent. */
  tan(): Tensor;
  /** The hyperbolic tangent. */
  tanh(): Tensor;
  /** Rounds towards 0. */
  trunc(): Tensor;
  /** a where the condition is not 0, else b. */
  where(a: Tensor | number, b: Tensor | number): Tensor;
  /** |a - b| <= absolute + relative * |b|, bool. Default: relative = 0.00001, absolute = 1e-8, equal_nan = false. */
  isclose(b: Tensor, relative?: number, absolute?: number, equal_nan?: boolean): Tensor;
  isclose(b: Tensor, named: { relative?: number; absolute?: number; equal_nan?: boolean }): Tensor;
  /** Whether isclose() is true for all elements. Default: relative = 0.00001, absolute = 1e-8, equal_nan = false. */
  allclose(b: Tensor, relative?: number, absolute?: number, equal_nan?: boolean): boolean;
  allclose(b: Tensor, named: { relative?: number; absolute?: number; equal_nan?: boolean }): boolean;
  /** Whether shapes and all elements are equal. */
  array_equal(b: Tensor): boolean;
  /** Whether an element is NaN. */
  has_nan(): boolean;
}

export interface ElementwiseFunctions<Tensor> {
  /** A formula in one pass over memory: elementwise("a*x + y", { a: 2, x, y }). */
  elementwise(expression: string, bindings: Record<string, Tensor | number>): Tensor;
  /** Assigns to tensors in one pass: update("v = m*v - g; w = w + v", { m, g, v, w }). */
  update(statements: string, bindings: Record<string, Tensor | number>): void;
}
