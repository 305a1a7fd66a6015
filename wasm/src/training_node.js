// SPDX-License-Identifier: MIT
import { Handle } from './handle.js';
import { checkNatural } from './values.js';

/** Computes tickets of distributed training. */
export class TrainingNode extends Handle {
  constructor(kaiseki, { cacheBytes = 2 ** 29 } = {}) {
    super(
      kaiseki,
      'kaiseki_training_node_delete',
      kaiseki.module.call('kaiseki_training_node', checkNatural(cacheBytes, 'trainingNode')),
    );
  }

  missing(ticket) {
    const { module } = this.kaiseki;
    return module
      .scratch((reserve) =>
        module.text(
          module.call(
            'kaiseki_training_node_missing',
            this.address,
            module.put(reserve, Uint8Array, ticket),
            ticket.length,
          ),
        ),
      )
      .split(' ')
      .slice(0, -1);
  }

  addBlob(hash, bytes) {
    const { module } = this.kaiseki;
    module.scratch((reserve) =>
      module.call(
        'kaiseki_training_node_add_blob',
        this.address,
        module.putText(reserve, hash),
        module.put(reserve, Uint8Array, bytes),
        bytes.length,
      ),
    );
  }

  run(ticket, memoryBytes = 2 ** 53) {
    const { module } = this.kaiseki;
    return module.scratch((reserve) =>
      module.bytes(
        module.call(
          'kaiseki_training_node_run',
          this.address,
          module.put(reserve, Uint8Array, ticket),
          ticket.length,
          checkNatural(memoryBytes, 'trainingNode'),
        ),
      ),
    );
  }

  async compute(ticket, fetchBlob) {
    for (const hash of this.missing(ticket)) this.addBlob(hash, await fetchBlob(hash));
    return this.run(ticket);
  }
}
