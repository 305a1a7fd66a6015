# SPDX-License-Identifier: MIT
# The toolchain of the preset wasm: Debian's Emscripten, SIMD and the exceptions of WebAssembly. Objects are compiled
# once, with atomic operations; whether a program has threads is said when it is linked (cmake/wasm.cmake).
set(ENV{EM_CONFIG} ${CMAKE_CURRENT_LIST_DIR}/config.py)
set(CMAKE_AR /usr/bin/llvm-ar-19 CACHE FILEPATH "")
set(CMAKE_RANLIB /usr/bin/llvm-ranlib-19 CACHE FILEPATH "")
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
# Emscripten's code would fetch its own file, where there is a fetch().
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/node --no-experimental-fetch)

# Libraries that are headers alone serve every machine. /usr/include itself must not be searched.
set(headers ${CMAKE_BINARY_DIR}/system/include)
file(MAKE_DIRECTORY ${headers})
foreach(library hwy nlohmann stb doctest)
  if(EXISTS /usr/include/${library})
    file(CREATE_LINK /usr/include/${library} ${headers}/${library} SYMBOLIC)
  endif()
endforeach()
list(APPEND CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/system)
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "-pthread -msimd128 -fwasm-exceptions -isystem ${CMAKE_CURRENT_LIST_DIR}/include -isystem ${headers}")
endforeach()
