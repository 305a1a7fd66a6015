// SPDX-License-Identifier: MIT
// Lets pending events of the event loop run, with less delay than a timer.
import { node } from './environment.js';

const waiting = [];
const channel = node ? undefined : new MessageChannel();
if (channel) channel.port1.onmessage = () => waiting.shift()();

export function turn() {
  return new Promise((resolve) => {
    if (node) return setImmediate(resolve);
    waiting.push(resolve);
    channel.port2.postMessage(0);
  });
}
