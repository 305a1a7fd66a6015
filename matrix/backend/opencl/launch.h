// SPDX-License-Identifier: MIT
// Launch: one kernel with its arguments in the order of its parameters, then the range that it runs
// over.
//
//   Launch(device, "fill.cl", "fill").index(n).arg(value).out(t).over(n);
//
// A tensor is two parameters: `__global T*` and the offset of its first element (ulong). Parameters
// of type INDEX are int, or long if a tensor of the launch has 2^31 elements or more. If a tensor
// has type f64, the kernel is built with -DF64.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/backend/opencl/device.h"
#include "matrix/tensor.h"

namespace kaiseki::opencl {

/// The option of kernels with tensors of f64.
inline constexpr std::string_view kF64 = " -DF64";

/// " -DNAME=VALUE"
std::string define(std::string_view name, int64_t value);

class Launch {
 public:
  Launch(OpenclDevice& device, std::string_view file, std::string_view kernel,
         std::string options = "");
  /// A kernel from a source text instead of a file of cl_kernels.
  static Launch from_source(OpenclDevice& device, Source kind, std::string_view source,
                            std::string_view kernel, std::string options = "");

  Launch& in(const Tensor& tensor) { return tensor_argument(tensor, Access::read); }
  Launch& out(Tensor& tensor);  // the kernel writes every element of the tensor
  Launch& in_out(Tensor& tensor) { return tensor_argument(tensor, Access::read_write); }
  /// If `tensor` is nullptr, the kernel does not read this parameter.
  Launch& optional(const Tensor* tensor);
  Launch& arg(float value) { return raw(&value, sizeof(value)); }
  Launch& arg(int32_t value) { return raw(&value, sizeof(value)); }
  Launch& arg(uint32_t value) { return raw(&value, sizeof(value)); }
  Launch& arg(uint8_t value) { return raw(&value, sizeof(value)); }
  Launch& arg(uint64_t value) { return raw(&value, sizeof(value)); }
  Launch& number(double value, DType type);  // as an element of a tensor
  Launch& index(int64_t value);
  Launch& raw(const void* value, size_t bytes);
  Launch& memory(cl_mem block, uint64_t bytes = 0) {
    bytes_ += bytes;
    if (block) blocks_.push_back(block);
    return raw(&block, sizeof(block));
  }

  /// Builds the kernel after all parameters are given. If an operation has several kernels and
  /// overwrites its inputs, it must call this first. It then knows that the driver accepts all its
  /// kernels.
  void build();

  /// Runs items 0..n-1, rounded up to whole work-groups. The kernel must check its item number.
  void over(int64_t n);
  /// The same with a second dimension, which is not rounded up.
  void over(int64_t n, int64_t rows);
  /// Runs exactly these items. If `local` is empty, the driver chooses the work-group size.
  void over_range(const std::vector<size_t>& global, const std::vector<size_t>& local);
  void over_groups(std::array<size_t, 3> groups, std::array<size_t, 3> local);

 private:
  struct Argument {
    std::array<unsigned char, 8> bytes;
    uint8_t size;
    bool is_index;
  };
  Launch& tensor_argument(const Tensor& tensor, Access access);

  /// A kernel with its arguments set. They stay set while the launch mutex is held.
  struct PreparedKernel {
    std::unique_lock<std::mutex> lock;
    Kernel* kernel;
  };
  Kernel& kernel();
  PreparedKernel prepare();
  void enqueue_parts(PreparedKernel& ready, const std::array<size_t, 3>& global,
                     const std::array<size_t, 3>& local, cl_uint dimensions);
  void enqueue(PreparedKernel& ready, const size_t* offset, const size_t* global,
               const size_t* local, cl_uint dimensions);

  OpenclDevice& device_;
  std::string program_, kernel_, options_;
  Source source_ = Source::file;
  bool wide_ = false, f64_ = false;
  uint64_t bytes_ = 0;  // bytes of the tensors' buffers
  std::vector<cl_mem> blocks_;
  std::vector<Argument> arguments_;
};

}  // namespace kaiseki::opencl
