# SPDX-License-Identifier: MIT
# Debian's Emscripten with Debian's clang 19, whose SIMD code is faster than that of its own clang 14. Emscripten runs
# this file as its configuration (EM_CONFIG).
import os

EMSCRIPTEN_ROOT = "/usr/share/emscripten"
LLVM_ROOT = "/usr/bin"
BINARYEN_ROOT = "/usr"
NODE_JS = "/usr/bin/node"
LLVM_ADD_VERSION = CLANG_ADD_VERSION = "19"
FROZEN_CACHE = True  # the system libraries are Debian's; none can be built anew

# The linker's passes over JavaScript need Debian's acorn, which other builds of Node do not look for.
os.environ["NODE_PATH"] = "/usr/share/nodejs"
