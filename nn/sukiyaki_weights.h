// SPDX-License-Identifier: MIT
// Writes a network with its weights in Sukiyaki's format.
#pragma once

#include <string>

#include "nn/network.h"

namespace kaiseki::nn {

/// Throws Error with the first layer that the format cannot describe.
std::string to_sukiyaki(Network& network);

}  // namespace kaiseki::nn
