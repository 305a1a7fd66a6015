# SPDX-License-Identifier: MIT
# The toolchain of the preset wasm: Debian's Emscripten, SIMD and WebAssembly's exceptions. Objects are compiled once,
# with atomic operations. cmake/wasm.cmake selects programs with or without threads when it links them.
set(ENV{EM_CONFIG} ${CMAKE_CURRENT_LIST_DIR}/config.py)
set(CMAKE_AR /usr/bin/llvm-ar-19 CACHE FILEPATH "")
set(CMAKE_RANLIB /usr/bin/llvm-ranlib-19 CACHE FILEPATH "")
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
# If Node has fetch(), Emscripten's code tries to fetch its own file and fails.
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/node --no-experimental-fetch)

# Header-only libraries work for every target. /usr/include itself must not be searched, because it has native headers.
set(headers ${CMAKE_BINARY_DIR}/system/include)
file(MAKE_DIRECTORY ${headers})
foreach(library hwy stb doctest)
  if(EXISTS /usr/include/${library})
    file(CREATE_LINK /usr/include/${library} ${headers}/${library} SYMBOLIC)
  endif()
endforeach()
list(APPEND CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/system)
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "-pthread -msimd128 -fwasm-exceptions -isystem ${CMAKE_CURRENT_LIST_DIR}/include -isystem ${headers}")
endforeach()
