// SPDX-License-Identifier: MIT
// The coordinator's folder, with its store and its tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "dist/net/wire.h"

namespace kaiseki::cli {

/// The tokens' files in the folder.
inline constexpr const char* kAuthorToken = "author.token";
inline constexpr const char* kViewerToken = "viewer.token";
inline constexpr const char* kNodeToken = "node.token";

/// Returns `given`, else KAISEKI_STATE_DIR. Makes the folder if it is missing, readable by this
/// user only.
std::filesystem::path state_folder(const std::string& given);

/// Reads the token in a file. If the file is missing, makes a token and writes it, readable by this
/// user only. Throws Error if that fails or the token is shorter than 16 characters.
std::string token_of(const std::filesystem::path& file);
/// Reads a token. The file must exist.
std::string read_token(const std::filesystem::path& file);
/// An option that names the file of a token.
struct TokenOption {
  std::string name, file;
};
/// Returns the token for the coordinator at `url`. It is in the option's file. Without this option,
/// the token for a coordinator on this machine is in the file `own` of KAISEKI_STATE_DIR. Throws
/// Error if a token would leave this machine unencrypted.
std::string token_for(const dist::CoordinatorUrl& url, const TokenOption& given,
                      const std::string& own);

}  // namespace kaiseki::cli
