# SPDX-License-Identifier: MIT
# Compile options of our own targets: warnings and sanitizers. They do not apply to programs that use the library.
function(kaiseki_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${KAISEKI_WERROR}>:-Werror>)
  # Fuzzers test parsers. Counting the branches of kernels would only slow down their tests.
  if(KAISEKI_BUILD_FUZZERS AND NOT target MATCHES "^kaiseki_matrix|_tests$")
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  # g++ 12 gives a wrong warning about overlapping memory when strings are joined (GCC bug 105651).
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(KAISEKI_SANITIZE)
    target_compile_options(${target} PRIVATE -g1 -fsanitize=${KAISEKI_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${KAISEKI_SANITIZE})
  endif()
endfunction()

# For tests, and for code that mostly waits for the network, the disk or the library. With -O1 it compiles in a third to two
# thirds of the time.
function(kaiseki_little_optimized target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
endfunction()

# Tests, except those that compute much themselves: with a sanitizer, -O0 compiles them in a third of the time.
function(kaiseki_test_optimization target)
  kaiseki_little_optimized(${target})
  if(KAISEKI_SANITIZE AND NOT target MATCHES "^(matrix|opencl|ml_(cluster|ensemble|linear|mixture|neighbors|online))_tests$")
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()
