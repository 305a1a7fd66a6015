// SPDX-License-Identifier: MIT
// CpuBackend: every operation, on the thread pool, in Highway where vectors help. Each operation
// is a file of this folder. Tensors of other devices are used through their host copy.
#pragma once

#include <string>

#include "matrix/backend.h"

namespace kaiseki {

class CpuBackend : public Backend {
 public:
  /// Caps the instruction set at KAISEKI_CPU_TARGET. Throws Error on a value that is none.
  CpuBackend();

  Device device() const override { return Device::cpu(); }
  DeviceInfo info() const override;
  bool has(Op) const override { return true; }
  void synchronize() override {}

  RawMemory& raw_memory() override;
  void upload(void* block, const void* host, uint64_t bytes) override;
  void download(void* host, void* block, uint64_t bytes) override;

  void copy(const Tensor& from, Tensor& to) override;
  void fill(Tensor& t, float value) override;
  void gemm(const GemmArgs& args) override;
  void elementwise(const ElementwiseArgs& args) override;
  void reduce(const ReduceArgs& args) override;
  void arg_reduce(const ArgReduceArgs& args) override;
  void softmax_forward(const SoftmaxArgs& args) override;
  void softmax_backward(const SoftmaxArgs& args) override;
  void cross_entropy_forward(const CrossEntropyArgs& args) override;
  void cross_entropy_backward(const CrossEntropyArgs& args) override;
  std::span<const ConvSolver* const> conv_solvers() const override;
  void pool_forward(const PoolArgs& args) override;
  void pool_backward(const PoolArgs& args) override;
  void batch_norm_train(const BatchNormArgs& args) override;
  void batch_norm_infer(const BatchNormArgs& args) override;
  void batch_norm_apply(const BatchNormArgs& args) override;
  void batch_norm_backward(const BatchNormArgs& args) override;
  void lrn_forward(const LrnArgs& args) override;
  void lrn_backward(const LrnArgs& args) override;
  void random(const RandomArgs& args) override;
  void gather(const GatherArgs& args) override;
  void scatter_add(const GatherArgs& args) override;

 private:
  std::string instruction_set_;  // "AVX3"
};

}  // namespace kaiseki
