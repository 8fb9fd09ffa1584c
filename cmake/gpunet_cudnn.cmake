# The optional component gpunet::cudnn: large convolutions on Cuda use NVIDIA's cuDNN 9. It is enough to compile one source of a
# program with it.
cmake_policy(VERSION 3.22)

# gpunet_find_cudnn([REQUIRED]): creates the target gpunet::cudnn if it finds cuDNN in CUDNN_ROOT (also an environment variable;
# for example nvidia/cudnn of a Python with NVIDIA's wheels), in the folder of the CUDA toolkit or in the system's folders. If
# not, GPUNET_CUDNN_WHY_NOT is the reason; with REQUIRED, the configuration fails with it.
function(gpunet_find_cudnn)
  unset(GPUNET_CUDNN_WHY_NOT PARENT_SCOPE)
  if(TARGET gpunet::cudnn)
    return()
  endif()
  gpunet_find_nvcc(nvcc)
  set(toolkit "")
  if(nvcc)
    get_filename_component(toolkit "${nvcc}" REALPATH)
    get_filename_component(toolkit "${toolkit}/../.." ABSOLUTE)
  endif()
  set(places HINTS "${CUDNN_ROOT}" ENV CUDNN_ROOT "${CUDAToolkit_ROOT}" "${toolkit}")
  find_path(GPUNET_CUDNN_INCLUDE_DIR cudnn_version.h ${places} PATH_SUFFIXES include
    DOC "Folder that contains cudnn.h")
  find_library(GPUNET_CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 NAMES_PER_DIR ${places} PATH_SUFFIXES lib64 lib lib/x64
    DOC "cuDNN's library")
  mark_as_advanced(GPUNET_CUDNN_INCLUDE_DIR GPUNET_CUDNN_LIBRARY)

  set(version "")
  if(EXISTS "${GPUNET_CUDNN_INCLUDE_DIR}/cudnn_version.h")
    file(STRINGS "${GPUNET_CUDNN_INCLUDE_DIR}/cudnn_version.h" version REGEX "define CUDNN_MAJOR ")
    string(REGEX REPLACE "[^0-9]" "" version "${version}")
  endif()
  if(version STREQUAL "" OR NOT EXISTS "${GPUNET_CUDNN_LIBRARY}")
    set(why "found no cuDNN")
  elseif(version LESS 9)
    set(why "the cuDNN in ${GPUNET_CUDNN_INCLUDE_DIR} is version ${version}, which is too old")
  else()
    add_library(gpunet::cudnn INTERFACE IMPORTED GLOBAL)
    set_target_properties(gpunet::cudnn PROPERTIES
      INTERFACE_COMPILE_DEFINITIONS GPUNET_CUDNN=1
      INTERFACE_INCLUDE_DIRECTORIES "${GPUNET_CUDNN_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES "gpunet::gpunet;${GPUNET_CUDNN_LIBRARY}")
    return()
  endif()
  string(APPEND why " (gpunet::cudnn needs its headers and its library), install cuDNN 9 or later "
                    "(NVIDIA's Debian package is cudnn9-cuda-13, its Python wheel nvidia-cudnn-cu13) or name its "
                    "folder in CUDNN_ROOT")
  set(GPUNET_CUDNN_WHY_NOT "${why}" PARENT_SCOPE)
  if("REQUIRED" IN_LIST ARGV)
    message(FATAL_ERROR "gpunet: ${why}")
  endif()
endfunction()
