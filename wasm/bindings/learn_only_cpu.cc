// SPDX-License-Identifier: MIT
// In a page, samples are on the CPU. These functions replace those for other devices, so that the
// linker leaves them out of the module for classic learning. Nothing calls them.
#include "base/error.h"
#include "ml/cluster/device_lloyd.h"
#include "ml/neighbors/device_search.h"

namespace kaiseki::ml {
namespace {

[[noreturn]] void refuse() { throw DeviceError(message("learn", "expected samples on the CPU")); }

}  // namespace

DeviceRows::DeviceRows(const Tensor&) { refuse(); }
double DeviceRows::mean_variance() const { refuse(); }
void DeviceRows::copy_row(int64_t, float*) const { refuse(); }
LloydResult lloyd(const DeviceRows&, Centers, const LloydOptions&) { refuse(); }

DeviceSearch::DeviceSearch(const Tensor&, const std::vector<float>&, double) { refuse(); }
std::vector<std::vector<FoundNeighbor>> DeviceSearch::nearest(const Tensor&, int64_t, bool) const {
  refuse();
}

}  // namespace kaiseki::ml
