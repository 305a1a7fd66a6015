// SPDX-License-Identifier: MIT
// Training over a pool (docs/pool-training.md) in a worker of a page or of Node: computes tickets of the function
// kaiseki.train with the npm package. A worker hands it each message of a Runner that it takes, and posts what comes of it:
//
//   const training = new Training(() => import('kaiseki/sync'), {threads: 2});
//   self.onmessage = ({data}) => { if (training.takes(data)) training.receive(data, (answer) => self.postMessage(answer)); };
//
// PoolNode gives such tickets to its `trainers`: Runners of these workers, with a fetchBlob(hash).

export const trainingFunction = 'kaiseki.train';

const messageMagic = 'KKT1';

/** A large ticket is a blob. */
const ticketOf = ({input, blobs}) => (input.length > 0 ? input : blobs[0]);

/**
 * Of how many samples a job that was done (its ticket is a message of docs/protocol-tensors.md) gave gradients: the first
 * dimension of its labels, or of the gradient that it got. A forward pass has neither: its samples count with the backward pass.
 * 0 of what is no such message.
 */
export function samplesOf(job) {
  try {
    return samplesOfTicket(ticketOf(job) ?? []);
  } catch {
    return 0;
  }
}

function samplesOfTicket(ticket) {
  if (String.fromCharCode(...ticket.slice(0, 4)) !== messageMagic) return 0;
  const view = new DataView(ticket.buffer, ticket.byteOffset, ticket.byteLength);
  const texts = view.getUint32(8, true), tensors = view.getUint32(12, true);
  if (tensors === 0) return 0;
  let at = 16;
  for (let i = 0; i < texts; ++i) at += 8 + view.getUint32(at, true) + view.getUint32(at + 4, true);
  return Number(view.getBigUint64(at + 8, true));
}

export class Training {
  /** `importPackage()` gives a Promise of kaiseki/sync; it is called with the first message. */
  constructor(importPackage, {threads = 1, lent, cacheBytes} = {}) {
    Object.assign(this, {importPackage, threads, lent, cacheBytes});
  }

  takes(message) {
    return message.function === trainingFunction || this.expects(message);
  }

  /** What was asked for with {want: hashes}. */
  expects({fetched, failed}) {
    return fetched !== undefined || failed !== undefined;
  }

  async receive(message, post) {
    if (this.expects(message)) return this.settle?.(message);
    try {
      this.kaiseki ??= await (await this.importPackage()).load({threads: this.threads, lent: this.lent});
      post({result: 'measure' in message ? this.measure(message.measure) : await this.compute(message, post)});
    } catch (error) {
      post({error: String(error?.message ?? error)});
    }
  }

  /** What the node knows already (weights of the step, the network) is not fetched again. */
  async compute({input, blobs}, post) {
    this.node ??= this.kaiseki.trainingNode({cacheBytes: this.cacheBytes});
    if (input.length === 0 && blobs.length !== 1)
      throw new Error(`[train] expected a ticket, or one blob with it, got ${blobs.length} blobs`);
    const ticket = ticketOf({input, blobs});
    const want = this.node.missing(ticket);
    if (want.length > 0) {
      const {fetched, failed} = await new Promise((settle) => {
        this.settle = settle;
        post({want});
      });
      if (failed !== undefined) throw new Error(failed);
      want.forEach((hash, i) => this.node.addBlob(hash, fetched[i]));
    }
    return this.node.run(ticket);
  }

  /** GFLOP/s of a convolution: what the coordinator sizes this node's work by. */
  measure(seconds) {
    const {kaiseki} = this, batch = 4, channels = 32, size = 28, filter = 3;
    return kaiseki.tidy(() => {
      const x = kaiseki.uniform([batch, channels, size, size]), w = kaiseki.uniform([channels, channels, filter, filter]);
      const once = () => kaiseki.conv2d(x, w, {padding: 1}).dispose();
      once();
      const start = performance.now(), work = 2 * batch * (channels * size * filter) ** 2;
      let times = 0, elapsed = 0;
      do {
        once();
        ++times;
        elapsed = (performance.now() - start) / 1000;
      } while (elapsed < seconds);
      return times * work * 1e-9 / elapsed;
    });
  }
}
