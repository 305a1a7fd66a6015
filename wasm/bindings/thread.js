// SPDX-License-Identifier: MIT
// Added to the script of Emscripten's threads. After a trap it tells the other threads, which may wait for this one.
const handle = self.onmessage;
self.onmessage = (event) => {
  try {
    handle(event);
  } catch (error) {
    Module._kaiseki_thread_fails?.();
    throw error;
  }
};
// Emscripten's thread script ignores a rejected promise. Rethrowing it ends the thread, so that load() fails too.
if (!ENVIRONMENT_IS_NODE)
  self.addEventListener('unhandledrejection', ({ reason }) => {
    throw reason;
  });
