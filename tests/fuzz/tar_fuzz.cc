// SPDX-License-Identifier: MIT
// tar, and tensors in a tar.
#include "nn/io/tar.h"
#include "nn/io/tar_tensors.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki;
using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  MemorySource source(bytes);
  TarReader tar(source);
  TarEntry entry;
  try {
    while (tar.next(entry))
      if (entry.is_file && tar.read(1 << 20).size() != entry.bytes) __builtin_trap();
  } catch (const kaiseki::Error&) {
  }
  read_tar_tensors(bytes);
}
