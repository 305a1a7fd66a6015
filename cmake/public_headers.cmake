# SPDX-License-Identifier: MIT
# Finds the headers that kaiseki.h and kaiseki/*.h include, directly or through other headers. Only these are installed.
# The script copies them. If DESTDIR is set, it copies them below DESTDIR. WITHOUT is optional:
#   cmake -DSOURCE=tree -DDESTINATION=include/kaiseki -DWITHOUT=kaiseki/dist.h -P public_headers.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB headers RELATIVE ${SOURCE} ${SOURCE}/kaiseki.h ${SOURCE}/kaiseki/*.h)
list(REMOVE_ITEM headers "${WITHOUT}")
set(waiting ${headers})
while(waiting)
  list(POP_FRONT waiting header)
  file(STRINGS ${SOURCE}/${header} includes REGEX "^#include \"[^\"]+\"")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    if(NOT included IN_LIST headers)
      list(APPEND headers ${included})
      list(APPEND waiting ${included})
    endif()
  endforeach()
endwhile()
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL ${SOURCE}/${header} DESTINATION ${DESTINATION}/${folder})
endforeach()
