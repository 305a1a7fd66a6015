// SPDX-License-Identifier: MIT
#include "matrix/ops/softmax.h"

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/cross_entropy.h"
#include "matrix/backend/operations/softmax.h"
#include "matrix/ops/check.h"
#include "matrix/out_of_core/divide.h"

namespace kaiseki {
namespace {

SoftmaxArgs split(const Shape& shape, int axis, bool log) {
  int along = shape.index(axis);
  SoftmaxArgs args{};
  args.log = log;
  args.outer = args.inner = 1;
  args.n = shape[along];
  for (int i = 0; i < along; ++i) args.outer *= shape[i];
  for (int i = along + 1; i < shape.rank(); ++i) args.inner *= shape[i];
  return args;
}

Tensor forward(const Tensor& x, int axis, bool log, std::string_view name) {
  check_tensor(x, "x", name);
  SoftmaxArgs args = split(x.shape(), axis, log);
  Tensor out(x.shape(), DType::f32, x.device());
  if (out.size() == 0) return out;
  Tensor input = x.contiguous();
  args.x = &input;
  args.out = &out;
  run_divisible(kSoftmaxForward, out, args,
                is_small_task(out, {&input}, static_cast<double>(input.size())));
  return out;
}

Tensor backward(const Tensor& y, const Tensor& dy, int axis, bool log, std::string_view name) {
  check_operand(y, "y", y.shape(), y, name);
  check_operand(dy, "dy", y.shape(), y, name);
  SoftmaxArgs args = split(y.shape(), axis, log);
  Tensor out(y.shape(), DType::f32, y.device());
  if (out.size() == 0) return out;
  args.y_in = &y;
  args.dy = &dy;
  args.out = &out;
  run_divisible(kSoftmaxBackward, out, args);
  return out;
}

void check_shapes(const Tensor& labels, const Tensor& rows, std::string_view name) {
  require(rows.rank() == 2 && rows.dim(1) > 0, name,
          "expected logits of shape [rows, classes], got ", rows.shape());
  check_operand(rows, "logits", rows.shape(), rows, name);
  check_operand(labels, "labels", Shape{rows.dim(0)}, rows, name, DType::i32);
}

/// Checks labels in the host copy: always before the CPU computes, otherwise only if that copy is
/// valid. A device's kernels skip labels out of range.
void check_labels(const Tensor& labels, const Tensor& rows, const Backend& backend,
                  std::string_view name) {
  if (!backend.device().is_cpu() && !labels.buffer().valid_on_host()) return;
  const int32_t* label = labels.data<int32_t>();
  for (int64_t i = 0; i < labels.size(); ++i)
    require(label[i] >= -1 && label[i] < rows.dim(1), name, "expected labels from 0 to ",
            rows.dim(1) - 1, " or -1, got ", label[i], " in row ", i);
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) { return forward(x, axis, false, "softmax"); }
Tensor log_softmax(const Tensor& x, int axis) { return forward(x, axis, true, "log_softmax"); }
Tensor softmax_backward(const Tensor& y, const Tensor& dy, int axis) {
  return backward(y, dy, axis, false, "softmax_backward");
}
Tensor log_softmax_backward(const Tensor& y, const Tensor& dy, int axis) {
  return backward(y, dy, axis, true, "log_softmax_backward");
}

CrossEntropy softmax_cross_entropy(const Tensor& logits, const Tensor& labels) {
  constexpr std::string_view kName = "softmax_cross_entropy";
  check_tensor(logits, "logits", kName);
  check_shapes(labels, logits, kName);
  CrossEntropy result{Tensor(labels.shape(), DType::f32, logits.device()),
                      Tensor(logits.shape(), DType::f32, logits.device())};
  if (logits.size() == 0) return result;
  CrossEntropyArgs args{};
  args.rows = logits.dim(0);
  args.classes = logits.dim(1);
  args.logits = &logits;
  args.labels = &labels;
  args.probabilities = &result.probabilities;
  args.losses = &result.losses;
  run_divisible(kCrossEntropyForward, logits, args,
                [&](Backend& b) { check_labels(labels, logits, b, kName); });
  return result;
}

Tensor softmax_cross_entropy_backward(const Tensor& probabilities, const Tensor& labels,
                                      float scale) {
  constexpr std::string_view kName = "softmax_cross_entropy_backward";
  check_tensor(probabilities, "probabilities", kName);
  check_shapes(labels, probabilities, kName);
  Tensor gradient(probabilities.shape(), DType::f32, probabilities.device());
  if (gradient.size() == 0) return gradient;
  CrossEntropyArgs args{};
  args.rows = probabilities.dim(0);
  args.classes = probabilities.dim(1);
  args.labels = &labels;
  args.probabilities_in = &probabilities;
  args.scale = scale;
  args.grad_logits = &gradient;
  run_divisible(kCrossEntropyBackward, probabilities, args,
                [&](Backend& b) { check_labels(labels, probabilities, b, kName); });
  return gradient;
}

}  // namespace kaiseki
