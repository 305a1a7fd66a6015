// SPDX-License-Identifier: MIT
// Names the OpenCL driver to install for this machine's GPU.
#pragma once

#include <filesystem>
#include <string>

namespace kaiseki::cli {

/// One line that names the driver's Debian package. `pci` is the folder of the PCI devices.
std::string opencl_hint(const std::filesystem::path& pci = "/sys/bus/pci/devices");

}  // namespace kaiseki::cli
