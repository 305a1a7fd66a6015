# SPDX-License-Identifier: MIT
# These start first. A slow test that starts last leaves the other cores without work.
set(slow_tests nn.models_step nn.train.memory dist.pool.crash dist.pool.delivery dist.train.attacks dist.train.updater
  matrix.conv.solvers matrix.conv.select matrix.ops.conv)

# Adds one ctest entry for each source file of a test executable. Smaller entries would start too
# many processes. Larger entries would run less in parallel. In WebAssembly these programs have no
# threads, so they leave out the cases and sources that need some. Pages run those.
function(kaiseki_discover_tests target)
  set(leave_out "")
  if(EMSCRIPTEN)
    list(JOIN left_out_cases "," cases)
    list(JOIN left_out_without_threads "," more)
    set(leave_out "--test-case-exclude=${cases},${more}")
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source FILENAME name)
    if(name IN_LIST left_out_sources_without_threads)
      continue()
    endif()
    if(source MATCHES "_test\\.cc$")
      cmake_path(ABSOLUTE_PATH source NORMALIZE)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests)
      string(REGEX REPLACE "_test\\.cc$" "" stem ${source})
      string(REPLACE "/" "." stem ${stem})
      add_test(NAME ${target}.${stem}
               COMMAND ${target} "--source-file=*tests/${source}" ${leave_out}
                       --no-skipped-summary --no-intro --no-colors)
      set_tests_properties(${target}.${stem} PROPERTIES FAIL_REGULAR_EXPRESSION "test cases:[ ]+0 \\|")
      if(stem IN_LIST slow_tests)
        set_tests_properties(${target}.${stem} PROPERTIES COST 100)
      endif()
    endif()
  endforeach()
endfunction()
