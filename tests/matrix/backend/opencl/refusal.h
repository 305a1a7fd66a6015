// SPDX-License-Identifier: MIT
// A driver that opens and then refuses kernels. The process remembers refusals and built kernels
// until it ends. Tests that need another history are in separate files, and so in separate
// processes.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "matrix/backend/opencl/api.h"

namespace kaiseki::test {

/// While a Refusal exists, the driver does not build programs that have `options` in their options.
/// It does not create the kernel `kernel`.
class Refusal {
 public:
  explicit Refusal(std::string options, std::string kernel = "none",
                   cl_int status = CL_BUILD_PROGRAM_FAILURE)
      : api_(const_cast<opencl::Api&>(opencl::cl())), real_(api_) {
    refused_options = std::move(options), refused_kernel = std::move(kernel), answer = status;
    build = real_.clBuildProgram, create = real_.clCreateKernel;
    api_.clBuildProgram = build_program;
    api_.clCreateKernel = create_kernel;
    refusals = 0;
  }
  ~Refusal() { api_ = real_; }

  static inline int refusals = 0;

 private:
  static inline std::string refused_options, refused_kernel;
  static inline cl_int answer = CL_SUCCESS;
  static inline decltype(&::clBuildProgram) build = nullptr;
  static inline decltype(&::clCreateKernel) create = nullptr;

  static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                          const cl_device_id* devices, const char* options,
                                          void(CL_CALLBACK* notify)(cl_program, void*),
                                          void* data) {
    if (std::string(options).find(refused_options) == std::string::npos)
      return build(program, count, devices, options, notify, data);
    ++refusals;
    return answer;
  }
  static cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* status) {
    if (name != refused_kernel) return create(program, name, status);
    ++refusals;
    *status = CL_INVALID_KERNEL_DEFINITION;
    return nullptr;
  }

  opencl::Api& api_;
  const opencl::Api real_;
};

inline void check_near(const std::vector<float>& values, const std::vector<float>& expected) {
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == doctest::Approx(expected[i]).epsilon(1e-5).scale(1));
}

}  // namespace kaiseki::test
