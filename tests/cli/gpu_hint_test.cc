// SPDX-License-Identifier: MIT
#include "cli/gpu_hint.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/folder.h"

using kaiseki::cli::opencl_hint;

namespace {

struct Bus {
  void add(const std::string& name, const std::string& type, const std::string& vendor) const {
    std::filesystem::create_directories(folder.path / name);
    std::ofstream(folder.path / name / "class") << type << '\n';
    std::ofstream(folder.path / name / "vendor") << vendor << '\n';
  }
  std::string hint() const { return opencl_hint(folder.path); }
  kaiseki::test::Folder folder;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("gpu hint: names the package for each vendor's GPU") {
  const std::pair<const char*, const char*> known[] = {{"0x1002", "mesa-opencl-icd"},
                                                       {"0x10de", "nvidia-opencl-icd"},
                                                       {"0x8086", "intel-opencl-icd"}};
  for (const auto& [vendor, package] : known) {
    const Bus bus;
    bus.add("0000:00:02.0", "0x030000", vendor);
    bus.add("0000:00:01.0", "0x030000", "0x1234");
    CHECK(has(bus.hint(), package));
  }
}

TEST_CASE("gpu hint: names the packages of two vendors") {
  const Bus bus;
  bus.add("0000:00:01.0", "0x030000", "0x1002");
  bus.add("0000:01:00.0", "0x030200", "0x10de");
  CHECK(bus.hint() ==
        "this machine has an AMD GPU: install its OpenCL driver, in Debian mesa-opencl-icd; "
        "it has an NVIDIA GPU: install its OpenCL driver, in Debian nvidia-opencl-icd");
}

TEST_CASE("gpu hint: ignores a vendor's other devices and reports unknown GPUs") {
  const Bus bus;
  CHECK(has(bus.hint(), "no GPU"));
  bus.add("0000:00:03.0", "0x020000", "0x8086");
  CHECK(has(bus.hint(), "no GPU"));
  bus.add("0000:00:04.0", "0x030200", "0x1a03");
  CHECK(has(bus.hint(), "vendor 0x1a03"));
  CHECK(has(opencl_hint(bus.folder.path / "none"), "no GPU"));
}
