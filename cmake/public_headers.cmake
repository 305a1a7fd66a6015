# SPDX-License-Identifier: MIT
# Finds the headers that kaiseki.h and kaiseki/*.h include, directly or through other headers. Only these are installed.
# As a script it copies them. If DESTDIR is set, it copies them below DESTDIR:
#   cmake -DSOURCE=tree -DDESTINATION=include/kaiseki -DROOTS=kaiseki.h,... -P public_headers.cmake
cmake_minimum_required(VERSION 3.25)

function(kaiseki_public_headers source roots result)
  set(found ${roots})
  set(waiting ${roots})
  while(waiting)
    list(POP_FRONT waiting header)
    file(STRINGS ${source}/${header} includes REGEX "^#include \"[^\"]+\"")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
      if(NOT included IN_LIST found)
        list(APPEND found ${included})
        list(APPEND waiting ${included})
      endif()
    endforeach()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  string(REPLACE "," ";" roots "${ROOTS}")
  kaiseki_public_headers(${SOURCE} "${roots}" headers)
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH folder)
    file(INSTALL ${SOURCE}/${header} DESTINATION ${DESTINATION}/${folder})
  endforeach()
endif()
