// SPDX-License-Identifier: MIT
// A node of distributed training: takes tickets and blobs, returns results.
#include "dist/train/training_node.h"

#include <cstdint>
#include <string>

#include "wasm/bindings/call.h"

namespace kaiseki::wasm {

using dist::TrainingNode;

KAISEKI_EXPORT TrainingNode* kaiseki_training_node(double cache_bytes) {
  return guarded(
      [&] { return handle(TrainingNode(Device::cpu(), static_cast<uint64_t>(cache_bytes))); });
}
KAISEKI_EXPORT void kaiseki_training_node_delete(TrainingNode* node) { release(node); }

/// Returns the hashes, each followed by a space.
KAISEKI_EXPORT const std::byte* kaiseki_training_node_missing(TrainingNode* node,
                                                              const std::byte* ticket,
                                                              size_t size) {
  return guarded([&] {
    std::string text;
    for (const std::string& hash : node->missing({ticket, size})) text += hash + " ";
    return return_text(text);
  });
}

KAISEKI_EXPORT int kaiseki_training_node_add_blob(TrainingNode* node, const char* hash,
                                                  const std::byte* bytes, size_t size) {
  return guarded([&] { return node->add_blob(hash, {bytes, bytes + size}), 1; });
}

KAISEKI_EXPORT const std::byte* kaiseki_training_node_run(TrainingNode* node,
                                                          const std::byte* ticket, size_t size,
                                                          double memory_bytes) {
  return guarded([&] {
    return return_bytes(node->run({ticket, size}, static_cast<uint64_t>(memory_bytes)));
  });
}

}  // namespace kaiseki::wasm
