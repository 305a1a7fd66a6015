// SPDX-License-Identifier: MIT
// Adds the name of an option to the errors of the library, which knows no options.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace kaiseki::cli {

/// Returns body(). Throws its Error again, with the option in place of the library's "[place]".
template <typename Body>
auto for_option(const std::string& option, const Body& body) {
  try {
    return body();
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(option + ": cannot use " + error.path1().string() + ": " + error.code().message());
  } catch (const Error& error) {
    throw Error(option + ": " + std::string(error.cause()));
  }
}

}  // namespace kaiseki::cli
