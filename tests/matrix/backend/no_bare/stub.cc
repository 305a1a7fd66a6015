// SPDX-License-Identifier: MIT
// Replaces the bare backend, as the stub of docs/adding-a-backend.md.
#include "base/error.h"
#include "matrix/backend/entry.h"

namespace kaiseki {
namespace {

std::string problem() { return "[bare] this build of Kaiseki has no bare backend"; }

Backend& open(int) { throw DeviceError(problem()); }

}  // namespace

const BackendEntry& bare_backend_entry() {
  static const BackendEntry entry{"bare", open, [] { return std::vector<DeviceInfo>(); }, problem};
  return entry;
}

}  // namespace kaiseki
