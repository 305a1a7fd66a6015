// SPDX-License-Identifier: MIT
// No file can be opened: ENOENT, where Emscripten without a file system would say that it was.
mergeInto(LibraryManager.library, {
  __syscall_open: function() { return -44; },
  __syscall_openat: function() { return -44; },
});
