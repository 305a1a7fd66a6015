// SPDX-License-Identifier: MIT
#include "cli/gpu_hint.h"

#include <algorithm>
#include <fstream>
#include <vector>

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

struct Vendor {
  const char *id, *name, *package;
};
constexpr Vendor kVendors[] = {{"0x1002", "an AMD", "mesa-opencl-icd"},
                               {"0x10de", "an NVIDIA", "nvidia-opencl-icd"},
                               {"0x8086", "an Intel", "intel-opencl-icd"}};
constexpr const char* kDisplayClass = "0x03";

std::string first_word(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

std::vector<std::string> display_vendors(const fs::path& pci) {
  std::vector<std::string> vendors;
  std::error_code error;
  for (const auto& device : fs::directory_iterator(pci, error))
    if (first_word(device.path() / "class").starts_with(kDisplayClass))
      vendors.push_back(first_word(device.path() / "vendor"));
  std::ranges::sort(vendors);
  return vendors;
}

}  // namespace

std::string opencl_hint(const fs::path& pci) {
  const std::vector<std::string> found = display_vendors(pci);
  std::string hints;
  for (const Vendor& vendor : kVendors)
    if (std::ranges::find(found, vendor.id) != found.end())
      hints += (hints.empty() ? std::string("this machine has ") : std::string("; it has ")) +
               vendor.name + " GPU: install its OpenCL driver, in Debian " + vendor.package;
  if (!hints.empty()) return hints;
  if (found.empty()) return "this machine has no GPU on its PCI bus";
  return "this machine has a GPU of vendor " + found.front() +
         ": ask its maker for an OpenCL driver";
}

}  // namespace kaiseki::cli
