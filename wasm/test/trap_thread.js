// SPDX-License-Identifier: MIT
// The script of a thread that traps in its first operation. The thread cannot call any function except its first one.
import '../../node_modules/kaiseki/dist/kaiseki-threads.worker.js';

const { Instance } = WebAssembly,
  { onmessage } = self;
let table;
WebAssembly.Instance = class extends Instance {
  constructor(...args) {
    super(...args);
    table = Object.values(this.exports).find((item) => item instanceof WebAssembly.Table);
  }
};
self.onmessage = (event) => {
  const { cmd, start_routine: first } = event.data;
  if (cmd === 'run') for (let i = 0; i < table.length; ++i) if (i !== first) table.set(i, null);
  return onmessage(event);
};
