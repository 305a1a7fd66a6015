// SPDX-License-Identifier: MIT
// Training over the pool (docs/pool-training.md) in a worker of a page or of Node. Computes tickets of the function
// kaiseki.train with the npm package. The worker passes each message of a Runner to receive(), and posts the answers:
//
//   const training = new Training(() => import('kaiseki/sync'), {threads: 2});
//   self.onmessage = ({data}) => { if (training.accepts(data)) training.receive(data, (answer) =>
// self.postMessage(answer)); };
//
// PoolNode gives such tickets to its `trainers`, which are Runners of these workers with a fetchBlob(hash).

export const trainingFunction = 'kaiseki.train';

/** The most bytes that a ticket may take on a node (dist/pool/types.h). */
export const ticketMemory = (nodeMemory) => nodeMemory / 4;

const mostCacheBytes = 2 ** 29;
/** The limit of a node's blob cache: as much as a ticket, and at most 512 MiB. */
export const blobCacheBytes = (nodeMemory) => Math.min(mostCacheBytes, Math.floor(ticketMemory(nodeMemory)));

const messageMagic = 'KKT1';

/** A large ticket comes as a blob. */
const ticketOf = ({ input, blobs }) => (input.length > 0 ? input : blobs[0]);

/**
 * Returns the number of samples for which a finished job computed gradients. The ticket is a message of
 * docs/protocol-tensors.md. The number is the first dimension of its first tensor: the labels, or the gradient that a
 * backward pass gets. A forward pass has neither and returns 0, because its backward pass counts the samples. Other
 * messages return 0 too.
 */
export function countSamples(job) {
  try {
    return countTicketSamples(ticketOf(job) ?? []);
  } catch {
    return 0;
  }
}

function countTicketSamples(ticket) {
  if (String.fromCharCode(...ticket.slice(0, 4)) !== messageMagic) return 0;
  const view = new DataView(ticket.buffer, ticket.byteOffset, ticket.byteLength);
  const texts = view.getUint32(8, true),
    tensors = view.getUint32(12, true);
  if (tensors === 0) return 0;
  let at = 16;
  for (let i = 0; i < texts; ++i) at += 8 + view.getUint32(at, true) + view.getUint32(at + 4, true);
  return Number(view.getBigUint64(at + 8, true));
}

export class Training {
  /**
   * `importPackage()` returns a Promise of kaiseki/sync. The first message calls it.
   * @param {() => Promise<any>} importPackage
   * @param {{ threads?: number, lent?: MessagePort, cacheBytes?: number }} [options]
   */
  constructor(importPackage, { threads = 1, lent, cacheBytes } = {}) {
    Object.assign(this, { importPackage, threads, lent, cacheBytes });
  }

  accepts(message) {
    return message.function === trainingFunction || this.isAnswer(message);
  }

  /** Whether the message answers {want: hashes}. */
  isAnswer({ fetched, failed }) {
    return fetched !== undefined || failed !== undefined;
  }

  async receive(message, post) {
    if (this.isAnswer(message)) return this.settle?.(message);
    try {
      if (!this.kaiseki) {
        const { threads, lent } = this;
        this.kaiseki = await (await this.importPackage()).load({ threads, lent, stoppable: true });
        if (this.kaiseki.stopFlag) post({ stopFlag: this.kaiseki.stopFlag });
      }
      post({ result: 'measure' in message ? this.measure(message.measure) : await this.compute(message, post) });
    } catch (error) {
      post({ error: String(error?.message ?? error), spent: error?.kind === 'Closed' });
    }
  }

  /** Fetches only the blobs that the node lacks. It caches the step's weights and the network. */
  async compute({ input, blobs, memory }, post) {
    this.node ??= this.kaiseki.trainingNode({ cacheBytes: this.cacheBytes });
    if (input.length === 0 && blobs.length !== 1)
      throw new Error(`[train] expected a ticket as input or as the only blob, got ${blobs.length} blobs`);
    const ticket = ticketOf({ input, blobs });
    const want = this.node.missing(ticket);
    if (want.length > 0) {
      const { fetched, failed } = await new Promise((settle) => {
        this.settle = settle;
        post({ want });
      });
      if (failed !== undefined) throw new Error(failed);
      want.forEach((hash, i) => this.node.addBlob(hash, fetched[i]));
    }
    return this.node.run(ticket, memory);
  }

  /** Measures the GFLOP/s of a convolution. The coordinator uses them to size this node's work. */
  measure(seconds) {
    const { kaiseki } = this,
      batch = 4,
      channels = 32,
      size = 28,
      filter = 3;
    return kaiseki.tidy(() => {
      const x = kaiseki.uniform([batch, channels, size, size]),
        w = kaiseki.uniform([channels, channels, filter, filter]);
      const once = () => kaiseki.conv2d(x, w, { padding: 1 }).dispose();
      once();
      const start = performance.now(),
        work = 2 * batch * (channels * size * filter) ** 2;
      let times = 0,
        elapsed;
      do {
        once();
        ++times;
        elapsed = (performance.now() - start) / 1000;
      } while (elapsed < seconds);
      return (times * work * 1e-9) / elapsed;
    });
  }
}
