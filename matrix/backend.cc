// SPDX-License-Identifier: MIT
// What a backend does that lacks an operation, and who does it instead.
#include "matrix/backend.h"

#include <atomic>

#include "matrix/error.h"
#include "matrix/log.h"

namespace kaiseki {
namespace {

std::atomic<uint64_t> fallbacks;

[[noreturn]] void lacks(const Backend& backend, Op op) {
  throw DeviceError(message(op_name(op), "expected a device that has this operation, got ",
                            backend.device().name()));
}

}  // namespace

std::string_view op_name(Op op) {
  constexpr std::string_view names[] = {
      "copy",          "fill",        "gemm",    "elementwise", "reduce", "arg_reduce", "softmax",
      "cross_entropy", "convolution", "pooling", "batch_norm",  "lrn",    "random",     "gather"};
  return names[static_cast<int>(op)];
}

Backend& backend_for(Op op, const Tensor& tensor) {
  Backend& own = tensor.device().backend();
  if (own.has(op)) return own;
  ++fallbacks;
  log_warning_once(message(op_name(op), tensor.device().name(),
                           " lacks this operation: it runs on the CPU, with transfers"));
  return cpu_backend();
}

uint64_t fallback_count() { return fallbacks; }

void note_refusal(Op op, Device device, const KernelError& refusal) {
  ++fallbacks;
  const std::string what =
      message(op_name(op), device.name(), " refuses a kernel: it runs on the CPU, with transfers");
  log_warning_once(what, what + " (" + refusal.what() + ')');
}

void Backend::copy(const Tensor&, Tensor&) { lacks(*this, Op::copy); }
void Backend::fill(Tensor&, float) { lacks(*this, Op::fill); }
void Backend::gemm(const GemmArgs&) { lacks(*this, Op::gemm); }
void Backend::elementwise(const ElementwiseArgs&) { lacks(*this, Op::elementwise); }
void Backend::reduce(const ReduceArgs&) { lacks(*this, Op::reduce); }
void Backend::arg_reduce(const ArgReduceArgs&) { lacks(*this, Op::arg_reduce); }
void Backend::softmax_forward(const SoftmaxArgs&) { lacks(*this, Op::softmax); }
void Backend::softmax_backward(const SoftmaxArgs&) { lacks(*this, Op::softmax); }
void Backend::cross_entropy_forward(const CrossEntropyArgs&) { lacks(*this, Op::cross_entropy); }
void Backend::cross_entropy_backward(const CrossEntropyArgs&) { lacks(*this, Op::cross_entropy); }
void Backend::pool_forward(const PoolArgs&) { lacks(*this, Op::pooling); }
void Backend::pool_backward(const PoolArgs&) { lacks(*this, Op::pooling); }
void Backend::batch_norm_train(const BatchNormArgs&) { lacks(*this, Op::batch_norm); }
void Backend::batch_norm_infer(const BatchNormArgs&) { lacks(*this, Op::batch_norm); }
void Backend::batch_norm_apply(const BatchNormArgs&) { lacks(*this, Op::batch_norm); }
void Backend::batch_norm_backward(const BatchNormArgs&) { lacks(*this, Op::batch_norm); }
void Backend::lrn_forward(const LrnArgs&) { lacks(*this, Op::lrn); }
void Backend::lrn_backward(const LrnArgs&) { lacks(*this, Op::lrn); }
void Backend::random(const RandomArgs&) { lacks(*this, Op::random); }
void Backend::gather(const GatherArgs&) { lacks(*this, Op::gather); }
void Backend::scatter_add(const GatherArgs&) { lacks(*this, Op::gather); }
std::span<const ConvSolver* const> Backend::conv_solvers() const { return {}; }

}  // namespace kaiseki
