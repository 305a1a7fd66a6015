// SPDX-License-Identifier: MIT
// The functions of libOpenCL.so.1, loaded when the first OpenCL device is asked for and never
// linked: a machine without OpenCL, or a program that stays on the CPU, does not meet it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

namespace kaiseki::opencl {

#define KAISEKI_OPENCL_FUNCTIONS(X) \
  X(clBuildProgram)                 \
  X(clCreateBuffer)                 \
  X(clCreateCommandQueue)           \
  X(clCreateContext)                \
  X(clCreateKernel)                 \
  X(clCreateProgramWithBinary)      \
  X(clCreateProgramWithSource)      \
  X(clEnqueueCopyBuffer)            \
  X(clEnqueueCopyBufferRect)        \
  X(clEnqueueFillBuffer)            \
  X(clEnqueueNDRangeKernel)         \
  X(clEnqueueReadBuffer)            \
  X(clEnqueueWriteBuffer)           \
  X(clFinish)                       \
  X(clGetDeviceIDs)                 \
  X(clGetDeviceInfo)                \
  X(clGetKernelWorkGroupInfo)       \
  X(clGetPlatformIDs)               \
  X(clGetPlatformInfo)              \
  X(clGetProgramBuildInfo)          \
  X(clGetProgramInfo)               \
  X(clReleaseCommandQueue)          \
  X(clReleaseContext)               \
  X(clReleaseKernel)                \
  X(clReleaseMemObject)             \
  X(clReleaseProgram)               \
  X(clSetKernelArg)

struct Api {
#define KAISEKI_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  KAISEKI_OPENCL_FUNCTIONS(KAISEKI_OPENCL_MEMBER)
#undef KAISEKI_OPENCL_MEMBER
};

/// Loads the library once. Throws DeviceError with the reason, each time, when that fails.
const Api& cl();

}  // namespace kaiseki::opencl
