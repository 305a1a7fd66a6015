// SPDX-License-Identifier: MIT
#include "nn/train/network_batch.h"

#include "matrix/memory/idle_tensors.h"

namespace kaiseki::nn {

bool next_batch(Iterator& iterator, const Network& network, Batch& batch) {
  IdleTensors idle(network.device());
  network.add_weights(idle);
  return iterator.next(batch);
}

Tensor inputs_of(const Batch& batch, const Network& network) {
  IdleTensors idle(network.device());
  network.add_weights(idle);
  return batch.inputs(network.device());
}

}  // namespace kaiseki::nn
