# The installed package: headers, targets, gpunet_cuda_sources, gpunet_find_cudnn, version.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/gpunet)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gpunet-config.cmake.in
  ${PROJECT_BINARY_DIR}/gpunet-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gpunet-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS gpunet EXPORT gpunet-targets)
install(EXPORT gpunet-targets NAMESPACE gpunet:: DESTINATION ${package_dir})
# The compiled library, if it was built: it is not part of "all".
install(TARGETS gpunet_compiled EXPORT gpunet-compiled-targets OPTIONAL)
install(EXPORT gpunet-compiled-targets NAMESPACE gpunet:: DESTINATION ${package_dir})
install(FILES
  ${PROJECT_BINARY_DIR}/gpunet-config.cmake
  ${PROJECT_BINARY_DIR}/gpunet-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gpunet_cuda.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gpunet_cudnn.cmake
  DESTINATION ${package_dir})
