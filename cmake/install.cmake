# SPDX-License-Identifier: MIT
# Installs the libraries, the headers beside their folders' names, and the package that find_package(kaiseki) reads.
include(CMakePackageConfigHelpers)
set(installed_targets kaiseki_matrix kaiseki_nn)
set(installed_folders matrix nn)
if(KAISEKI_DIST)
  list(APPEND installed_targets kaiseki_dist kaiseki_dist_train kaiseki_net)
  list(APPEND installed_folders dist)
endif()
install(TARGETS ${installed_targets} EXPORT kaiseki_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder ${installed_folders})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kaiseki
          FILES_MATCHING PATTERN "*.h" PATTERN "backend/*" EXCLUDE)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/kaiseki.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kaiseki)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/kaiseki)
set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/kaiseki)
install(EXPORT kaiseki_targets NAMESPACE kaiseki:: FILE kaisekiTargets.cmake DESTINATION ${destination})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kaisekiConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/kaisekiConfig.cmake INSTALL_DESTINATION ${destination})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/kaisekiConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kaisekiConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/kaisekiConfigVersion.cmake DESTINATION ${destination})
