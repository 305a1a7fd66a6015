// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/api.h"

#include <dlfcn.h>

#include <string>

#include "base/error.h"

namespace kaiseki::opencl {
namespace {

struct Library {
  Api api;
  std::string problem;

  Library() {
    void* handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* reason = dlerror();
      problem = std::string("no OpenCL loader: ") + (reason ? reason : "unknown reason");
      return;
    }
#define KAISEKI_OPENCL_LOAD(name)                                        \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(handle, #name)); \
  if (!api.name && problem.empty()) problem = "libOpenCL.so.1 lacks " #name;
    KAISEKI_OPENCL_FUNCTIONS(KAISEKI_OPENCL_LOAD)
#undef KAISEKI_OPENCL_LOAD
  }
};

}  // namespace

const Api& cl() {
  static const Library* library = new Library;
  if (!library->problem.empty()) throw DeviceError(message("opencl", library->problem));
  return library->api;
}

}  // namespace kaiseki::opencl
