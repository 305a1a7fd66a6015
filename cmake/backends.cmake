# SPDX-License-Identifier: MIT
# The backends beside the CPU, one line each. `auto` tries them in this order. Each has an option KAISEKI_NAME. Its sources
# are in matrix/backend/NAME/. A build without it compiles a stub.
set(KAISEKI_BACKENDS
  opencl
)

foreach(backend IN LISTS KAISEKI_BACKENDS)
  string(TOUPPER KAISEKI_${backend} wanted)
  if(EMSCRIPTEN)
    option(${wanted} "Build the backend ${backend}" OFF)
  else()
    option(${wanted} "Build the backend ${backend}" ON)
  endif()
endforeach()

# Compiles a stub of the backend into the target. The stub has no devices.
function(kaiseki_backend_stub target name)
  configure_file(${PROJECT_SOURCE_DIR}/matrix/backend/stub.cc.in ${CMAKE_CURRENT_BINARY_DIR}/no_${name}.cc @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/no_${name}.cc)
endfunction()

# Adds backend/NAME/. If the option is OFF, adds backend/no_NAME/ if there is such a folder, else a generated stub.
macro(kaiseki_add_backend name)
  string(TOUPPER KAISEKI_${name} wanted)
  if(${wanted})
    add_subdirectory(backend/${name})
  elseif(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/backend/no_${name})
    add_subdirectory(backend/no_${name})
  else()
    kaiseki_backend_stub(kaiseki_matrix ${name})
  endif()
endmacro()

# Compiles the list of these backends into the target.
function(kaiseki_backend_list target)
  set(declarations "")
  set(entries "")
  foreach(name IN LISTS ARGN)
    string(APPEND declarations "const BackendEntry& ${name}_backend_entry();\n")
    string(APPEND entries ", &${name}_backend_entry()")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/matrix/backend/backends.cc.in ${target}_backends.cc @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${target}_backends.cc)
endfunction()
