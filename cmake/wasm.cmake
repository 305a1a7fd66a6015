# SPDX-License-Identifier: MIT
# Programs for WebAssembly. Objects are compiled once. Each program is linked twice: without threads and with threads.
# Emscripten starts Python for each file. Debian's starts in a tenth of the time of a version manager's.
foreach(rule COMPILE LINK)
  set_property(GLOBAL PROPERTY RULE_LAUNCH_${rule}
    "${CMAKE_COMMAND} -E env EM_CONFIG=${CMAKE_CURRENT_LIST_DIR}/emscripten/config.py EMSDK_PYTHON=/usr/bin/python3")
endforeach()

# Links without the compiler's flags, because their -pthread would link threads into every program.
set(CMAKE_CXX_LINK_EXECUTABLE "<CMAKE_CXX_COMPILER> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")

# Memory grows up to 4 GB, the limit of 32-bit addresses. If it runs out, malloc() fails and the program continues.
add_link_options(-msimd128 -fwasm-exceptions -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sABORTING_MALLOC=0
                 -Wno-pthreads-mem-growth)

add_library(kaiseki_no_threads OBJECT ${CMAKE_CURRENT_LIST_DIR}/emscripten/no_threads.cc)

# Adds both variants of a test executable. The one for Node has access to Node's files, and no threads. The one for pages
# (tests/wasm/pages.js) has threads, and files in memory. Its main() runs in a second thread, and the page's own thread
# starts further threads.
function(kaiseki_wasm_test name)
  target_link_options(${name} PRIVATE -O1 -sNODERAWFS -sEXIT_RUNTIME)
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:kaiseki_no_threads>)
  add_executable(${name}_page $<TARGET_OBJECTS:${name}> $<TARGET_OBJECTS:kaiseki_test_main>)
  set_target_properties(${name}_page PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/pages)
  target_link_libraries(${name}_page PRIVATE kaiseki_nn)
  target_link_options(${name}_page PRIVATE -O1 -sEXIT_RUNTIME -sENVIRONMENT=web,worker -sFORCE_FILESYSTEM -pthread
                      -sPROXY_TO_PTHREAD -sPTHREAD_POOL_SIZE=4)
endfunction()

# Compiles the sources of a target that match `pattern` for size. Use it for code that takes almost no time.
function(kaiseki_small target pattern)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
    if(source MATCHES "${pattern}")
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS -Oz)
    endif()
  endforeach()
endfunction()
