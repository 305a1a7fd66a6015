// SPDX-License-Identifier: MIT
// Emscripten's thread script ignores a rejected promise. Rethrowing it ends the thread, so that load() fails too.
if (!ENVIRONMENT_IS_NODE)
  self.addEventListener('unhandledrejection', ({ reason }) => {
    throw reason;
  });
