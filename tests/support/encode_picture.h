// SPDX-License-Identifier: MIT
// encode_png(), encode_jpeg(): files of pictures for tests.
#pragma once

#include "nn/data/picture.h"

namespace kaiseki::test {

ByteVector encode_png(const nn::Picture& picture);
/// `quality` is 1 to 100. Up to 90, color has half the resolution.
ByteVector encode_jpeg(const nn::Picture& picture, int quality);

}  // namespace kaiseki::test
