
// Emscripten's script of a thread leaves a promise without an end: what fails there must end the thread, and so load().
if (!ENVIRONMENT_IS_NODE) self.addEventListener('unhandledrejection', ({ reason }) => { throw reason; });
