// SPDX-License-Identifier: MIT
// Backend: what a device can do. The functions of matrix/ops check shapes once and call these;
// implementations trust their arguments. The CPU backend has every operation and works on any
// tensor through its host copy, so it also serves as fallback for a device that lacks one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "matrix/conv/solver.h"
#include "matrix/error.h"
#include "matrix/memory/pool.h"
#include "matrix/ops/expression.h"
#include "matrix/tensor.h"

namespace kaiseki {

enum class Op : uint8_t {
  copy,
  fill,
  gemm,
  elementwise,
  reduce,
  arg_reduce,
  softmax,
  cross_entropy,
  convolution,
  pooling,
  batch_norm,
  lrn,
  random,
  gather,
};
std::string_view op_name(Op op);

/// C[i] = activation(alpha * op(A[i]) op(B[i]) + beta * C[i] + bias), i in 0..batch, row-major.
/// op(A) is m x k, op(B) k x n, C m x n; a stored transposed when trans_a. The tensors give storage
/// and offset; leading dimensions and batch strides are in elements, a batch stride may be 0.
struct GemmArgs {
  bool trans_a = false, trans_b = false;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  float alpha = 1, beta = 0;
  const Tensor *a = nullptr, *b = nullptr;
  Tensor* c = nullptr;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  enum class Bias : uint8_t { none, per_row, per_column } bias_kind = Bias::none;
  const Tensor* bias = nullptr;  // m or n contiguous values
  Activation activation = Activation::none;
  float slope = 0.01f;  // of leaky_relu
};

/// One operand of an elementwise expression, over the common shape `ElementwiseArgs::shape`.
struct ElementwiseOperand {
  const Tensor* tensor;
  Shape strides;  // in elements, rank of the common shape, 0 where broadcast
};

struct ElementwiseArgs {
  const Expression* expression;
  Shape shape;                             // common, already collapsed where possible
  std::vector<ElementwiseOperand> inputs;  // as expression->inputs(); f32
  std::vector<float> scalars;              // as expression->scalars()
  std::vector<Tensor*> outputs;            // as expression->outputs(); contiguous f32 of the common
                                           // size; may be the same tensor as an input
};

enum class Reduction : uint8_t { sum, mean, max, min, sum_of_squares };

/// Input is contiguous, seen as `shape`, of which the axes flagged in `reduced` disappear. Output
/// is contiguous: output = reduction + beta * output. Neighbouring axes of one kind are already
/// merged.
struct ReduceArgs {
  Reduction kind;
  const Tensor* input;
  Shape shape;
  std::array<bool, Shape::kMaxRank> reduced{};
  Tensor* output;
  float beta = 0;
};

/// Index (i32) of the first maximum or minimum over the middle of [outer, n, inner]. A NaN counts
/// as the extreme value.
struct ArgReduceArgs {
  bool maximum;
  const Tensor* input;
  int64_t outer, n, inner;
  Tensor* output;
};

/// y = softmax or log-softmax of x over the middle of [outer, n, inner]; backward: dx from y and
/// dy.
struct SoftmaxArgs {
  bool log;
  int64_t outer, n, inner;
  const Tensor *x, *dy, *y_in;  // forward: x; backward: dy, y_in
  Tensor* out;
};

/// Softmax cross-entropy of rows of `logits` [rows, classes] with `labels` (i32, 0..classes-1).
/// A label of -1 is ignored: loss and gradient 0.
struct CrossEntropyArgs {
  int64_t rows, classes;
  const Tensor *logits, *labels;
  Tensor *probabilities, *losses;  // forward: [rows, classes], [rows]
  const Tensor* probabilities_in;  // backward
  float scale;                     // backward: d logits = scale * (probabilities - onehot)
  Tensor* grad_logits;
};

/// Pooling over the last two of [N, C, H, W]. Padding never wins a maximum.
struct PoolArgs {
  bool maximum;
  bool count_padding;                        // average: divide by the whole window
  int64_t planes, in_h, in_w, out_h, out_w;  // planes = N * C
  std::array<int64_t, 2> window, stride, padding;
  const Tensor* x;   // forward
  Tensor* y;         // forward
  Tensor* indices;   // forward, maximum: i32 position in the plane; backward: read
  const Tensor* dy;  // backward
  Tensor* dx;        // backward: overwritten
};

/// Batch normalisation over [N, C, inner], statistics per channel (biased variance).
struct BatchNormArgs {
  int64_t n, c, inner;
  float eps, momentum;  // running = (1 - momentum) * running + momentum * batch (unbiased variance)
  bool relu;            // y = max(y, 0)
  const Tensor *x, *gamma, *beta;
  Tensor *y, *running_mean, *running_var;  // forward
  Tensor *mean, *inv_std;                  // forward in training: written; later: read
  const Tensor* dy;                        // backward
  Tensor *dx, *dgamma, *dbeta;             // backward: dx overwritten, dgamma and dbeta added to
};

/// y = x / (k + alpha/size * sum of x^2 over `size` neighbouring channels)^beta, over [N, C,
/// inner].
struct LrnArgs {
  int64_t n, c, inner, size;
  float alpha, beta, k;
  const Tensor *x, *y_in, *dy;
  Tensor* out;  // forward: y; backward: dx (from x, y_in, dy)
};

/// Elements i from Philox word i of (seed, stream), starting at word `position`.
struct RandomArgs {
  enum class Kind : uint8_t { uniform, normal, bernoulli } kind;
  float a,
      b;  // uniform: [a, b); normal: mean, deviation; bernoulli: value b with probability a, else 0
  uint64_t seed, stream, position;  // normal uses two words an element
  Tensor* output;
};

/// rows[i] of `table` [n, width] to output [count, width]; scatter adds rows back in order.
struct GatherArgs {
  int64_t n, width, count;
  const Tensor *table, *rows;  // rows: i32
  Tensor* output;
  const Tensor* source;  // scatter_add
  Tensor* table_out;     // scatter_add
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Device device() const = 0;
  virtual DeviceInfo info() const = 0;
  virtual bool has(Op op) const = 0;
  virtual void synchronize() = 0;
  /// Kernels queued since the program started, where operations consist of several.
  virtual uint64_t queued_kernels() const { return 0; }

  /// The device's memory; copies are ordered after the work queued before.
  virtual RawMemory& raw_memory() = 0;
  virtual void upload(void* block, const void* host, uint64_t bytes) = 0;
  virtual void download(void* host, void* block, uint64_t bytes) = 0;

  /// Strided copy between tensors of one shape and type (f32, i32, u8, bool).
  virtual void copy(const Tensor& from, Tensor& to);
  /// Every element of a contiguous f32 or i32 tensor.
  virtual void fill(Tensor& t, float value);
  virtual void gemm(const GemmArgs& args);
  virtual void elementwise(const ElementwiseArgs& args);
  virtual void reduce(const ReduceArgs& args);
  virtual void arg_reduce(const ArgReduceArgs& args);
  virtual void softmax_forward(const SoftmaxArgs& args);
  virtual void softmax_backward(const SoftmaxArgs& args);
  virtual void cross_entropy_forward(const CrossEntropyArgs& args);
  virtual void cross_entropy_backward(const CrossEntropyArgs& args);
  virtual std::span<const ConvSolver* const> conv_solvers() const;
  virtual void pool_forward(const PoolArgs& args);
  virtual void pool_backward(const PoolArgs& args);
  virtual void batch_norm_train(const BatchNormArgs& args);
  virtual void batch_norm_infer(const BatchNormArgs& args);
  virtual void batch_norm_apply(const BatchNormArgs& args);
  virtual void batch_norm_backward(const BatchNormArgs& args);
  virtual void lrn_forward(const LrnArgs& args);
  virtual void lrn_backward(const LrnArgs& args);
  virtual void random(const RandomArgs& args);
  virtual void gather(const GatherArgs& args);
  virtual void scatter_add(const GatherArgs& args);
};

/// The tensor's own backend, or the CPU's if it lacks the operation (logged once, counted).
Backend& backend_for(Op op, const Tensor& tensor);
/// How often an operation went to the CPU instead since the program started.
uint64_t fallback_count();

/// The backends themselves. opencl_backend throws DeviceError with the reason; in a build without
/// OpenCL it always does.
Backend& cpu_backend();
Backend& opencl_backend(int index);
std::vector<DeviceInfo> list_opencl_devices();
std::string opencl_device_problem();

/// Says once that the device's driver refuses a kernel of this operation, and counts it.
void note_refusal(Op op, Device device, const KernelError& refusal);

/// Runs the operation with the tensor's own backend; with the CPU's where that lacks it or its
/// driver refuses a kernel.
template <typename Run>
void run_operation(Op op, const Tensor& tensor, const Run& run) {
  try {
    run(backend_for(op, tensor));
  } catch (const KernelError& refusal) {
    note_refusal(op, tensor.device(), refusal);
    run(cpu_backend());
  }
}

}  // namespace kaiseki
