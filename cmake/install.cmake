# The installed package: headers, targets, gpunet_optimize, gpunet_cuda_sources, gpunet_find_cudnn, gpunet_find_mpi, gpunet_find_nccl, gpunet_precompile, gpunet_hide, version; files of
# pkg-config.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/gpunet)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gpunet-config.cmake.in
  ${PROJECT_BINARY_DIR}/gpunet-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gpunet-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS gpunet gpunet_onnx EXPORT gpunet-targets)
install(EXPORT gpunet-targets NAMESPACE gpunet:: DESTINATION ${package_dir})
# The compiled libraries, if they were built: they are not part of "all".
foreach(library compiled cuda)
  if(TARGET gpunet_${library})
    install(TARGETS gpunet_${library} EXPORT gpunet-${library}-targets OPTIONAL)
    install(EXPORT gpunet-${library}-targets NAMESPACE gpunet:: DESTINATION ${package_dir})
  endif()
endforeach()
install(FILES
  ${PROJECT_BINARY_DIR}/gpunet-config.cmake
  ${PROJECT_BINARY_DIR}/gpunet-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gpunet_optimize.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gpunet_cuda.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gpunet_cudnn.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gpunet_mpi.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gpunet_nccl.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gpunet_precompile.cmake
  ${CMAKE_CURRENT_LIST_DIR}/gpunet_hide.cmake
  DESTINATION ${package_dir})

# NAME.pc, with the paths of the folder where it lies; with the word BUILT_FROM and a target, only if that was built.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix /${pc_dir} /)
function(gpunet_install_pc name text)
  cmake_parse_arguments(pc "" "BUILT_FROM" "" ${ARGN})
  set(file ${PROJECT_BINARY_DIR}/${name}.pc)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "prefix=\${pcfiledir}/@pc_to_prefix@
Name: ${name}
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
${text}")
  if(NOT pc_BUILT_FROM)
    install(FILES ${file} DESTINATION ${pc_dir})
  else()
    install(CODE "if(EXISTS \"$<TARGET_FILE:${pc_BUILT_FROM}>\")
      file(INSTALL \"${file}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${pc_dir}\")
    endif()")
  endif()
endfunction()

gpunet_install_pc(gpunet "Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR} -pthread
Libs: -pthread
")
gpunet_install_pc(gpunet-compiled "Requires: gpunet
Cflags: -DGPUNET_COMPILED=1
Libs: -L\${prefix}/${CMAKE_INSTALL_LIBDIR} -lgpunet_compiled -Wl,${gpunet_gc_sections}
" BUILT_FROM gpunet_compiled)
if(TARGET gpunet_cuda)
  get_target_property(cuda_libdir CUDA::cudart IMPORTED_LOCATION)
  get_filename_component(cuda_libdir "${cuda_libdir}" DIRECTORY)
  gpunet_install_pc(gpunet-cuda "Requires: gpunet-compiled
Cflags: -DGPUNET_CUDA=1
Libs: -L\${prefix}/${CMAKE_INSTALL_LIBDIR} -lgpunet_cuda -L${cuda_libdir} -lcudart -lcublas -lcublasLt
" BUILT_FROM gpunet_cuda)
endif()
