// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace kaiseki::cli {

/// Makes the folder if it is missing, readable by this user only. Throws Error, which names
/// `place`.
inline void make_private_folder(std::string_view place, const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::create_directories(folder, error))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  if (error)
    throw Error(message(place, "cannot make the folder ", folder.string(), ": ", error.message()));
}

}  // namespace kaiseki::cli
