# SPDX-License-Identifier: MIT
# Gives `target` the function embedded_page(). It returns the files of `folder`, which web/build made, as a tar. If `folder`
# is "", it returns nothing.
function(kaiseki_embed_page target folder)
  if(folder STREQUAL "")
    target_sources(${target} PRIVATE no_page.cc)
    return()
  endif()
  if(NOT EXISTS "${folder}/index.html")
    message(FATAL_ERROR "KAISEKI_PAGE: expected an index.html in ${folder}: web/build makes the page, -DKAISEKI_PAGE= goes without")
  endif()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${folder}" "${folder}/*")
  list(TRANSFORM files PREPEND "${folder}/" OUTPUT_VARIABLE sources)
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/page.tar)
  add_custom_command(OUTPUT ${archive} DEPENDS ${sources} WORKING_DIRECTORY "${folder}" VERBATIM
    COMMAND ${CMAKE_COMMAND} -E tar cf ${archive} --format=paxr --mtime=1970-01-01 -- ${files})
  target_sources(${target} PRIVATE page.cc)
  set_source_files_properties(page.cc PROPERTIES
    OBJECT_DEPENDS ${archive} COMPILE_DEFINITIONS KAISEKI_PAGE_TAR="${archive}")
endfunction()
