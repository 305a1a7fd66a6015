// SPDX-License-Identifier: MIT
// The list of backends, one line each. matrix/CMakeLists.txt compiles the backend's folder or its
// stub.
#include "matrix/backend/backends.h"

namespace kaiseki {

std::span<const BackendEntry* const> built_in_backends() {
  static const BackendEntry* const kAll[] = {
      &cpu_backend_entry(),
      &opencl_backend_entry(),
  };
  return kAll;
}

}  // namespace kaiseki
