// SPDX-License-Identifier: MIT
// The page's end of the worker. Of the requests for the plane that wait, only the newest is sent.
import type { Components, Drawing, Fitted, PlaneRequest } from './answers';
import type { Pictures } from '../logic/idx';
import type { Answer, Request } from './messages';

/** The number of cells along a side: in the first drawing, and in the second one if nothing changes meanwhile. */
const SIDES = [64, 192];

export type Told = { fitted: Fitted; drawing: Drawing } | { failure: string };
type Content<R = Request> = R extends { id: number } ? Omit<R, 'id'> : never;
/** The part of a worker that is used. */
export type Port = Pick<Worker, 'postMessage' | 'onmessage' | 'onerror'>;

export class Learner {
  #lastId = 0;
  #waiting = new Map<number, (answer: Answer) => void>();
  #planeId = 0;
  #next: { plane: PlaneRequest; told: (told: Told) => void } | undefined;
  #busy = false;

  constructor(private readonly worker: Port) {
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      const told = this.#waiting.get(data.id);
      if (data.last) this.#waiting.delete(data.id);
      told?.(data);
    };
    worker.onerror = ({ message }) => {
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const [id, told] of waiting)
        told({ id, last: true, kind: 'failed', message: message || 'The worker has failed. Load the page again.' });
    };
  }

  #send(content: Content, told: (answer: Answer) => void): number {
    const id = ++this.#lastId;
    this.#waiting.set(id, told);
    this.worker.postMessage({ ...content, id });
    return id;
  }

  /** Calls `told` with a coarse drawing, then with a fine one. Answers to older requests are not told. */
  plane(plane: PlaneRequest, told: (told: Told) => void): void {
    this.#next = { plane, told };
    if (!this.#busy) this.#sendPlane();
  }

  /** After its first drawing the worker takes the next request, and drops the rest of the older one. */
  #sendPlane(): void {
    if (!this.#next) return;
    const { plane, told } = this.#next;
    this.#next = undefined;
    this.#busy = true;
    this.#waiting.delete(this.#planeId);
    this.#planeId = this.#send({ kind: 'plane', plane, sides: SIDES }, (answer) => {
      this.#busy = false;
      if (answer.kind === 'plane') told({ fitted: answer.fitted, drawing: answer.drawing });
      else if (answer.kind === 'failed') told({ failure: answer.message });
      this.#sendPlane();
    });
  }

  #ask<Kind extends Answer['kind']>(content: Content): Promise<Extract<Answer, { kind: Kind }>> {
    return new Promise((resolve, reject) =>
      this.#send(content, (answer) => {
        if (answer.kind === 'failed') reject(new Error(answer.message));
        else resolve(answer as Extract<Answer, { kind: Kind }>);
      }),
    );
  }

  async digits(count: number): Promise<Pictures> {
    return (await this.#ask<'digits'>({ kind: 'digits', count })).pictures;
  }

  async components(pictures: Pictures): Promise<Components> {
    return (await this.#ask<'components'>({ kind: 'components', pictures })).components;
  }
}
