# SPDX-License-Identifier: MIT
# Adds one ctest entry for each source file of a test executable. Smaller entries would start too
# many processes. Larger entries would run less in parallel. WebAssembly has two programs of the
# target's objects. Each program gets the entries, without the cases that it leaves out.
function(kaiseki_discover_tests target)
  kaiseki_discover_tests_of(${target} ${target} ${left_out_cases} ${left_out_without_threads})
  if(EMSCRIPTEN)
    kaiseki_discover_tests_of(${target} ${target}_threads ${left_out_cases})
  endif()
endfunction()

# These start first. A slow test that starts last leaves the other cores without work.
set(slow_tests nn.models_step nn.train.memory dist.pool.crash dist.pool.delivery dist.train.attacks dist.train.updater
  matrix.conv.solvers matrix.conv.select matrix.ops.conv)

# `program` runs the sources of `target`. The further arguments are the names of cases to leave out. A program without
# threads also leaves out the sources that need threads.
function(kaiseki_discover_tests_of target program)
  set(leave_out "")
  if(ARGN)
    list(JOIN ARGN "," cases)
    set(leave_out "--test-case-exclude=${cases}")
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source FILENAME name)
    if(program STREQUAL target AND name IN_LIST left_out_sources_without_threads)
      continue()
    endif()
    if(source MATCHES "_test\\.cc$")
      cmake_path(ABSOLUTE_PATH source NORMALIZE)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests)
      string(REGEX REPLACE "_test\\.cc$" "" stem ${source})
      string(REPLACE "/" "." stem ${stem})
      add_test(NAME ${program}.${stem}
               COMMAND ${program} "--source-file=*tests/${source}" ${leave_out}
                       --no-skipped-summary --no-intro --no-colors)
      set_tests_properties(${program}.${stem} PROPERTIES
        RESOURCE_LOCK ${target}.${stem}  # both programs use the same temporary files
        FAIL_REGULAR_EXPRESSION "test cases:[ ]+0 \\|")
      if(stem IN_LIST slow_tests)
        set_tests_properties(${program}.${stem} PROPERTIES COST 100)
      endif()
    endif()
  endforeach()
endfunction()
