// SPDX-License-Identifier: MIT
// Opening a file fails with ENOENT. Without this, Emscripten without a file system would report success.
mergeInto(LibraryManager.library, {
  __syscall_open: function () {
    return -44;
  },
  __syscall_openat: function () {
    return -44;
  },
});
