# SPDX-License-Identifier: MIT
# Configures Debian's Emscripten to use Debian's clang 19. Its SIMD code is faster than that of clang 14, Emscripten's
# default. Emscripten runs this file as its configuration (EM_CONFIG).
import os

EMSCRIPTEN_ROOT = "/usr/share/emscripten"
LLVM_ROOT = "/usr/bin"
BINARYEN_ROOT = "/usr"
NODE_JS = "/usr/bin/node"
LLVM_ADD_VERSION = CLANG_ADD_VERSION = "19"
FROZEN_CACHE = True  # Debian provides the system libraries; Emscripten cannot build them again

# The linker's passes over JavaScript need Debian's acorn. Only Debian's Node searches its folder by default.
os.environ["NODE_PATH"] = "/usr/share/nodejs"
