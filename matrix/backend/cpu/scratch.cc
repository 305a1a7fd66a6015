// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/scratch.h"

#include <memory>
#include <new>

namespace kaiseki::cpu {
namespace {

constexpr std::align_val_t kAlignment{64};

struct Release {
  void operator()(float* memory) const { ::operator delete(memory, kAlignment); }
};

}  // namespace

float* thread_scratch(size_t count) {
  static thread_local std::unique_ptr<float, Release> memory;
  static thread_local size_t size = 0;
  if (count > size) {
    memory.reset();
    size = 0;
    memory.reset(static_cast<float*>(::operator new(count * sizeof(float), kAlignment)));
    size = count;
  }
  return memory.get();
}

}  // namespace kaiseki::cpu
