// SPDX-License-Identifier: MIT
#include "matrix/backend/backend.h"

#include "base/error.h"

namespace kaiseki {

void Backend::throw_missing_operation(std::string_view operation) const {
  throw DeviceError(
      message(operation, "expected a device that has this operation, got ", device().name()));
}

}  // namespace kaiseki
