// SPDX-License-Identifier: MIT
// The OpenCL backend: every operation, each in the file of its name.
#pragma once

#include "matrix/backend.h"
#include "matrix/backend/opencl/device.h"
#include "matrix/opencl.h"

namespace kaiseki::opencl {

class OpenclBackend : public Backend {
 public:
  explicit OpenclBackend(OpenclDevice& device) : device_(device) {}

  OpenclDevice& opencl() const { return device_; }
  Device device() const override { return Device::opencl(device_.index()); }
  DeviceInfo info() const override;
  bool has(Op op) const override;
  void synchronize() override { device_.finish(); }
  uint64_t queued_kernels() const override { return opencl_kernel_count().launches; }
  RawMemory& raw_memory() override { return device_; }
  void upload(void* block, const void* host, uint64_t bytes) override {
    device_.upload(block, host, bytes);
  }
  void download(void* host, void* block, uint64_t bytes) override {
    device_.download(host, block, bytes);
  }

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
  OpenclDevice& device_;
};

DeviceInfo device_info(int index, const DeviceFacts& facts);

}  // namespace kaiseki::opencl
