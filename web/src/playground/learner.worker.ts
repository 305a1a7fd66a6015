// SPDX-License-Identifier: MIT
// The worker: loads kaiseki/learn and answers requests. It draws the plane coarsely, then finely. A newer request for
// the plane replaces the older one.
import { load } from 'kaiseki/learn';
import { componentsOf, drawPlane, fitPlane } from './answers';
import type { Answer, Request } from './messages';

const library = load();
library.catch(() => {}); // each request reports it
let newest = 0;

const send = (answer: Answer) => self.postMessage(answer);
/** Lets the messages arrive that wait. */
const turn = () => new Promise((resolve) => setTimeout(resolve));

async function answer(request: Request): Promise<void> {
  const { id } = request;
  if (request.kind === 'plane') newest = id;
  const learn = await library;
  await turn();
  if (request.kind === 'digits') {
    send({ id, last: true, kind: 'digits', pictures: learn.digits({ count: request.count }) });
  } else if (request.kind === 'components') {
    send({ id, last: true, kind: 'components', components: componentsOf(learn, request.pictures) });
  } else if (id === newest) {
    const { plane, sides } = request,
      { model, fitted } = fitPlane(learn, plane);
    try {
      for (const [i, side] of sides.entries()) {
        send({ id, last: i + 1 === sides.length, kind: 'plane', fitted, drawing: drawPlane(model, plane, side) });
        await turn();
        if (id !== newest) break;
      }
    } finally {
      model.dispose();
    }
  }
}

self.onmessage = ({ data }: MessageEvent<Request>) =>
  void answer(data).catch((error: Error) => send({ id: data.id, last: true, kind: 'failed', message: error.message }));
