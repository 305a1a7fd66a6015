// SPDX-License-Identifier: MIT
// Status codes of OpenCL by name, and the check that every call goes through.
#pragma once

#include <string>
#include <string_view>

#include "matrix/backend/opencl/api.h"

namespace kaiseki::opencl {

/// "CL_OUT_OF_RESOURCES"; "status -9999" for a code that is not known.
std::string status_name(cl_int status);

/// Throws DeviceError "[opencl] clFinish on NAME: CL_OUT_OF_RESOURCES" unless status is CL_SUCCESS.
void check(cl_int status, std::string_view call, std::string_view device);
/// Throws what a failure to build a kernel is: DeviceError where memory was short and it may
/// succeed later, else KernelError.
[[noreturn]] void refuse(cl_int status, const std::string& text);

/// What the device (or platform) answers to a question about a string.
std::string device_string(cl_device_id device, cl_device_info question);
std::string platform_string(cl_platform_id platform, cl_platform_info question);

/// What the device answers to a question about a number.
template <typename T>
T device_number(cl_device_id device, cl_device_info question) {
  T value{};
  check(cl().clGetDeviceInfo(device, question, sizeof(value), &value, nullptr), "clGetDeviceInfo",
        "a device");
  return value;
}

}  // namespace kaiseki::opencl
