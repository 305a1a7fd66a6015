// SPDX-License-Identifier: MIT
// Runners for tickets of modules. Each has its worker in a sandboxed frame, which runs in a separate process. Endless code
// in a worker of this page would run for 2 s after terminate(). If the frame is removed, its process ends at once.
import { Runner } from '../../pool/runner.js';
import script from '../../pool/task_worker.js?worker&url';

const FRAME = '/volunteer/task.html';
const SECONDS = 60; // the time limit of a ticket

let code: Promise<string> | undefined;

async function loadCode(): Promise<string> {
  const response = await fetch(script);
  if (!response.ok) throw new Error(`${script}: ${response.status}`);
  return response.text();
}

function makeWorker() {
  const frame = document.createElement('iframe'),
    { port1: port, port2 } = new MessageChannel();
  const adapter = {
    post: (message: unknown) => port.postMessage(message),
    end() {
      port.close();
      frame.remove();
    },
    onMessage: (_: unknown): void => {},
    onError: (_: { message: string }): void => {},
  };
  port.onmessage = ({ data }) =>
    data.failed === undefined ? adapter.onMessage(data) : adapter.onError({ message: data.failed });
  frame.sandbox.add('allow-scripts');
  frame.hidden = true;
  frame.title = 'Task';
  frame.src = FRAME;
  frame.onload = () => {
    code ??= loadCode();
    code.then(
      (text) => frame.contentWindow?.postMessage(text, '*', [port2]), // the frame's origin has no name
      (error) => {
        code = undefined;
        adapter.onError(error);
      },
    );
  };
  document.body.append(frame);
  return adapter;
}

/** Computes tickets of modules, on one thread. */
export const taskRunner = () => new Runner(makeWorker, SECONDS);
