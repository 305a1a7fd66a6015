// SPDX-License-Identifier: MIT
// The folder in which a coordinator keeps what it knows, and its tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "dist/net/wire.h"

namespace kaiseki::cli {

/// `given`, else KAISEKI_STATE_DIR's; made when it is not there, for this user alone.
std::filesystem::path state_folder(const std::string& given);

/// The token in a file, made up and written, for this user alone, when it is not there. Throws
/// Error when it cannot be, or is shorter than 16 characters.
std::string token_of(const std::filesystem::path& file);
/// Of a file that must be there.
std::string read_token(const std::filesystem::path& file);
/// Whether a program of this user listens on this port of 127.0.0.1: another's gets no token.
bool is_own_port(uint16_t port);
/// What to show the coordinator at `url`: the token in `given`; without, of a coordinator on this
/// machine, that in `own` of KAISEKI_STATE_DIR, if it is there. Throws Error for a token that would
/// leave this machine unencrypted.
std::string token_for(const dist::CoordinatorUrl& url, const std::string& given,
                      const std::string& own);

}  // namespace kaiseki::cli
