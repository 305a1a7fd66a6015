# SPDX-License-Identifier: MIT
# Programs for WebAssembly. Objects are compiled once; each program is linked without threads and with them.
foreach(rule COMPILE LINK)
  set_property(GLOBAL PROPERTY RULE_LAUNCH_${rule}
    "${CMAKE_COMMAND} -E env EM_CONFIG=${CMAKE_CURRENT_LIST_DIR}/emscripten/config.py")
endforeach()

# Not with the flags of the compiler, whose -pthread would give every program threads.
set(CMAKE_CXX_LINK_EXECUTABLE "<CMAKE_CXX_COMPILER> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")

# Memory grows to what 32 bits can address; to run out of it is an exception, not the end.
add_link_options(-msimd128 -fwasm-exceptions -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sABORTING_MALLOC=0
                 -Wno-pthreads-mem-growth)

add_library(kaiseki_no_threads OBJECT ${CMAKE_CURRENT_LIST_DIR}/emscripten/no_threads.cc)

# Both variants of a test executable, for Node, with its files. The second's main() runs beside Node's own thread, which
# starts the other threads; two are ready, so that an early end does not wait for one that Node can no longer start.
function(kaiseki_wasm_test name)
  set(options -O1 -sNODERAWFS -sEXIT_RUNTIME)
  target_link_options(${name} PRIVATE ${options})
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:kaiseki_no_threads>)
  add_executable(${name}_threads $<TARGET_OBJECTS:${name}> $<TARGET_OBJECTS:kaiseki_test_main>)
  set_target_properties(${name}_threads PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name}_threads PRIVATE kaiseki_nn)
  target_link_options(${name}_threads PRIVATE ${options} -pthread -sPROXY_TO_PTHREAD
                      -sPTHREAD_POOL_SIZE=2)

  # A third for pages (tests/wasm/pages.js), with threads and with files in memory.
  add_executable(${name}_page $<TARGET_OBJECTS:${name}> $<TARGET_OBJECTS:kaiseki_test_main>)
  set_target_properties(${name}_page PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/pages)
  target_link_libraries(${name}_page PRIVATE kaiseki_nn)
  target_link_options(${name}_page PRIVATE -O1 -sEXIT_RUNTIME -sENVIRONMENT=web,worker -sFORCE_FILESYSTEM -pthread
                      -sPROXY_TO_PTHREAD -sPTHREAD_POOL_SIZE=4)
endfunction()

# Compiles for size the sources of a target that match: those where next to no time is spent.
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
