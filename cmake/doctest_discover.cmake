# SPDX-License-Identifier: MIT
# One ctest entry for each source file of a test executable: fine enough to run in parallel and to
# name what failed, coarse enough that starting processes costs little.
function(kaiseki_discover_tests target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "_test\\.cc$")
      cmake_path(ABSOLUTE_PATH source NORMALIZE)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests)
      string(REGEX REPLACE "_test\\.cc$" "" stem ${source})
      string(REPLACE "/" "." stem ${stem})
      add_test(NAME ${target}.${stem}
               COMMAND ${target} "--source-file=*tests/${source}" --no-skipped-summary --no-intro)
      set_tests_properties(${target}.${stem} PROPERTIES
        FAIL_REGULAR_EXPRESSION "test cases:[ ]+0 \\|")
    endif()
  endforeach()
endfunction()
