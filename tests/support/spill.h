// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "matrix/memory/spill.h"

namespace kaiseki::test {

/// While it lives, tensors that leave the CPU wait in files of the folder.
struct WithSpillFolder {
  explicit WithSpillFolder(const std::filesystem::path& folder) { set_spill_folder(folder); }
  ~WithSpillFolder() { set_spill_folder({}); }
  WithSpillFolder(const WithSpillFolder&) = delete;
};

/// While it lives, tensors that leave the CPU wait in the store.
struct WithSpillStore {
  explicit WithSpillStore(const SpillStore& store) { set_spill_store(store); }
  ~WithSpillStore() { set_spill_store(nullptr); }
  WithSpillStore(const WithSpillStore&) = delete;
};

}  // namespace kaiseki::test
