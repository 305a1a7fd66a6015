// SPDX-License-Identifier: MIT
// An OpenCL driver for the loader with three platforms that fail. The first cannot list its
// devices. The second has a device that does not answer queries. The third has a GPU that cannot
// create a context.
#include <algorithm>
#include <cstring>
#include <string_view>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_icd.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

struct _cl_platform_id {
  const cl_icd_dispatch* dispatch;
  std::string_view name;
};
struct _cl_device_id {
  const cl_icd_dispatch* dispatch;
  bool answers;
};

namespace {

cl_icd_dispatch functions;
_cl_platform_id platforms[] = {{&functions, "no list"}, {&functions, "mute"}, {&functions, "gpu"}};
_cl_device_id mute{&functions, false}, gpu{&functions, true};

cl_int answer(const void* value, size_t bytes, size_t room, void* into, size_t* needed) {
  if (needed) *needed = bytes;
  if (into) std::memcpy(into, value, std::min(bytes, room));
  return CL_SUCCESS;
}

cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t room,
                                 void* into, size_t* needed) {
  std::string_view text = what == CL_PLATFORM_EXTENSIONS       ? "cl_khr_icd"
                          : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "broken"
                          : what == CL_PLATFORM_VERSION        ? "OpenCL 1.2 broken"
                                                               : platform->name;
  return answer(text.data(), text.size() + 1, room, into, needed);
}

cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type, cl_uint room,
                              cl_device_id* into, cl_uint* count) {
  if (platform == &platforms[0] && into) return CL_OUT_OF_HOST_MEMORY;
  if (count) *count = 1;
  if (into && room) *into = platform == &platforms[1] ? &mute : &gpu;
  return CL_SUCCESS;
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room, void* into,
                               size_t* needed) {
  if (!device->answers) return CL_INVALID_DEVICE;
  if (what == CL_DEVICE_NAME || what == CL_DEVICE_VENDOR || what == CL_DRIVER_VERSION)
    return answer("broken", 7, room, into, needed);
  cl_ulong number = what == CL_DEVICE_TYPE ? CL_DEVICE_TYPE_GPU : 1;
  return answer(&number, room, room, into, needed);
}

cl_context CL_API_CALL create_context(const cl_context_properties*, cl_uint, const cl_device_id*,
                                      void(CL_CALLBACK*)(const char*, const void*, size_t, void*),
                                      void*, cl_int* status) {
  *status = CL_DEVICE_NOT_AVAILABLE;
  return nullptr;
}

cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id* into, cl_uint* count) {
  functions.clGetPlatformInfo = platform_info;
  functions.clGetDeviceIDs = device_ids;
  functions.clGetDeviceInfo = device_info;
  functions.clCreateContext = create_context;
  if (count) *count = std::size(platforms);
  for (cl_uint i = 0; into && i < std::min<cl_uint>(room, std::size(platforms)); ++i)
    into[i] = &platforms[i];
  return CL_SUCCESS;
}

}  // namespace

EXPORTED void* clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
    return reinterpret_cast<void*>(platform_ids);
  return nullptr;
}
EXPORTED cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room,
                                  void* into, size_t* needed) {
  return platform_info(platform, what, room, into, needed);
}
EXPORTED cl_int clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id* into, cl_uint* count) {
  return platform_ids(room, into, count);
}
