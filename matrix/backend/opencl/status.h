// SPDX-License-Identifier: MIT
// Names of OpenCL status codes, and the check of every call.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "matrix/backend/opencl/api.h"

namespace kaiseki::opencl {

/// "CL_OUT_OF_RESOURCES"; "status -9999" for an unknown code.
std::string status_name(cl_int status);

/// Throws DeviceError "[opencl] clFinish on NAME: CL_OUT_OF_RESOURCES" unless status is CL_SUCCESS.
void check(cl_int status, std::string_view call, std::string_view device);
/// Throws the error for a kernel that failed to build. If memory was short, the error is
/// DeviceError, and the kernel may build later. Otherwise the error is KernelError.
[[noreturn]] void refuse(cl_int status, const Message& why);

/// A string property of the device or platform.
std::string device_string(cl_device_id device, cl_device_info question);
std::string platform_string(cl_platform_id platform, cl_platform_info question);

/// A numeric property of the device.
template <typename T>
T device_number(cl_device_id device, cl_device_info question) {
  T value{};
  check(cl().clGetDeviceInfo(device, question, sizeof(value), &value, nullptr), "clGetDeviceInfo",
        "a device");
  return value;
}

}  // namespace kaiseki::opencl
