# SPDX-License-Identifier: MIT
# Compile options of our own targets: warnings, sanitizers. They do not reach the users of the library.
function(kaiseki_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${KAISEKI_WERROR}>:-Werror>)
  if(KAISEKI_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  # g++ 12 warns falsely of overlapping memory where strings are joined (GCC bug 105651).
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(KAISEKI_SANITIZE)
    target_compile_options(${target} PRIVATE -g1 -fsanitize=${KAISEKI_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${KAISEKI_SANITIZE})
  endif()
endfunction()
