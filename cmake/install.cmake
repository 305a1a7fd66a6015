# SPDX-License-Identifier: MIT
# Installs two components. "runtime" is the command. "development" is the libraries, their headers, and the files for
# find_package(kaiseki) and pkg-config. cpack makes a Debian package of each component.
include(CMakePackageConfigHelpers)
set(installed_targets kaiseki_base kaiseki_matrix kaiseki_nn kaiseki_ml kaiseki_cluster)
set(without kaiseki/dist.h)
if(KAISEKI_DIST)
  list(APPEND installed_targets kaiseki_dist kaiseki_dist_train kaiseki_net kaiseki_http)
  set(without "")
endif()
install(TARGETS ${installed_targets} EXPORT kaiseki_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

# The script finds the headers during installation, because their includes may have changed since cmake ran.
install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND \${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
  \"-DDESTINATION=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/kaiseki\" -DWITHOUT=${without}
  -P ${CMAKE_CURRENT_LIST_DIR}/public_headers.cmake)" COMPONENT development)

set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/kaiseki)
install(EXPORT kaiseki_targets NAMESPACE kaiseki:: FILE kaisekiTargets.cmake DESTINATION ${destination} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kaisekiConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/kaisekiConfig.cmake INSTALL_DESTINATION ${destination})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/kaisekiConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kaisekiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/kaisekiConfigVersion.cmake
        DESTINATION ${destination} COMPONENT development)

set(pc_nn "-lkaiseki_ml -lkaiseki_nn -lkaiseki_matrix -lkaiseki_base -lhwy -ldl -pthread")
if(KAISEKI_ZLIB)
  string(APPEND pc_nn " -lz")
endif()
if(KAISEKI_HAS_LIBJPEG)
  string(APPEND pc_nn " -ljpeg")
endif()
set(pc_dist "-lkaiseki_net -lkaiseki_dist_train -lkaiseki_dist -lkaiseki_http -lsqlite3 -lssl -lcrypto -lcurl")
file(RELATIVE_PATH pc_include /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
set(pc_files kaiseki.pc)
if(KAISEKI_HAS_MPI)
  list(APPEND pc_files kaiseki-cluster.pc)
  list(JOIN MPI_C_LIBRARIES " " pc_mpi)
endif()
if(KAISEKI_DIST)
  list(APPEND pc_files kaiseki-dist.pc)
endif()
foreach(file IN LISTS pc_files)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${file}.in ${CMAKE_CURRENT_BINARY_DIR}/${file} @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/kaiseki COMPONENT runtime)
if(PROJECT_IS_TOP_LEVEL)
  include(packages)
endif()
