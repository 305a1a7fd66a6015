// SPDX-License-Identifier: MIT
// The functions of libOpenCL.so.1. The library is loaded on the first request for an OpenCL device.
// It is never linked, so programs also run without OpenCL.
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
  X(clCreateSubBuffer)              \
  X(clEnqueueBarrierWithWaitList)   \
  X(clEnqueueCopyBuffer)            \
  X(clEnqueueCopyBufferRect)        \
  X(clEnqueueFillBuffer)            \
  X(clEnqueueMapBuffer)             \
  X(clEnqueueMarkerWithWaitList)    \
  X(clEnqueueNDRangeKernel)         \
  X(clEnqueueReadBuffer)            \
  X(clEnqueueReadBufferRect)        \
  X(clEnqueueUnmapMemObject)        \
  X(clEnqueueWriteBuffer)           \
  X(clEnqueueWriteBufferRect)       \
  X(clFinish)                       \
  X(clFlush)                        \
  X(clGetDeviceIDs)                 \
  X(clGetDeviceInfo)                \
  X(clGetEventProfilingInfo)        \
  X(clGetKernelWorkGroupInfo)       \
  X(clGetPlatformIDs)               \
  X(clGetPlatformInfo)              \
  X(clGetProgramBuildInfo)          \
  X(clGetProgramInfo)               \
  X(clReleaseCommandQueue)          \
  X(clReleaseContext)               \
  X(clReleaseEvent)                 \
  X(clReleaseKernel)                \
  X(clReleaseMemObject)             \
  X(clReleaseProgram)               \
  X(clRetainEvent)                  \
  X(clSetKernelArg)                 \
  X(clWaitForEvents)

struct Api {
#define KAISEKI_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  KAISEKI_OPENCL_FUNCTIONS(KAISEKI_OPENCL_MEMBER)
#undef KAISEKI_OPENCL_MEMBER
};

/// Loads the library once. If that fails, every call throws DeviceError with the reason.
const Api& cl();

}  // namespace kaiseki::opencl
