// SPDX-License-Identifier: MIT
// The gradients of a network as one tar buffer, for a distribution of your own (MILJS paper,
// section 3.2). examples/two_processes is a program that uses it.
#pragma once

#include "base/bytes.h"
#include "nn/network.h"

namespace kaiseki::nn {

/// Returns all gradients as a tar of float32 (nn/io/tar_tensors.h), under the names of the
/// parameters. Call Network::zero_grad() without an optimizer before the passes. Throws Error if
/// the gradients use the memory of an optimizer's velocity.
ByteVector gather_tar(Network& network);

/// Adds the gradients in a buffer of gather_tar() to those of the network. Throws ParseError if the
/// buffer is damaged, or if its names or shapes are not those of the network. Throws Error as
/// gather_tar() does. After an error the gradients are unchanged.
void add_tar(Network& network, ByteView tar);

}  // namespace kaiseki::nn
