# The optional component gpunet::nccl: processes with a GPU each are connected by NVIDIA's NCCL 2.13 or later. It is enough that one
# source of a program includes <gpunet/distributed/nccl.cuh>. Installed with the library.
cmake_policy(VERSION 3.22)

# gpunet_find_nccl([REQUIRED]): creates the target gpunet::nccl if it finds NCCL in NCCL_ROOT (also an environment variable; for
# example nvidia/nccl of a Python with NVIDIA's wheels), in the folder of the CUDA toolkit or in the system's folders. If not,
# GPUNET_NCCL_WHY_NOT is the reason; with REQUIRED, the configuration fails with it.
function(gpunet_find_nccl)
  unset(GPUNET_NCCL_WHY_NOT PARENT_SCOPE)
  if(TARGET gpunet::nccl)
    return()
  endif()
  find_package(CUDAToolkit QUIET)
  set(places HINTS "${NCCL_ROOT}" ENV NCCL_ROOT "${CUDAToolkit_LIBRARY_ROOT}" "${CUDAToolkit_TARGET_DIR}")
  find_path(GPUNET_NCCL_INCLUDE_DIR nccl.h ${places} PATH_SUFFIXES include DOC "Folder that contains nccl.h")
  find_library(GPUNET_NCCL_LIBRARY NAMES nccl libnccl.so.2 NAMES_PER_DIR ${places} PATH_SUFFIXES lib64 lib
    DOC "NCCL's library")
  mark_as_advanced(GPUNET_NCCL_INCLUDE_DIR GPUNET_NCCL_LIBRARY)

  set(version "")
  if(EXISTS "${GPUNET_NCCL_INCLUDE_DIR}/nccl.h")
    file(STRINGS "${GPUNET_NCCL_INCLUDE_DIR}/nccl.h" version REGEX "define NCCL_VERSION_CODE ")
    string(REGEX REPLACE "[^0-9]" "" version "${version}")
  endif()
  if(version STREQUAL "" OR NOT EXISTS "${GPUNET_NCCL_LIBRARY}")
    set(why "found no NCCL")
  elseif(NOT TARGET CUDA::cudart)
    set(why "found no CUDA toolkit for the NCCL in ${GPUNET_NCCL_INCLUDE_DIR}")
  elseif(version LESS 21300)
    set(why "the NCCL in ${GPUNET_NCCL_INCLUDE_DIR} is version ${version}, which is too old")
  else()
    add_library(gpunet::nccl INTERFACE IMPORTED GLOBAL)
    set_target_properties(gpunet::nccl PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${GPUNET_NCCL_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES "gpunet::gpunet;${GPUNET_NCCL_LIBRARY};CUDA::cudart")
    return()
  endif()
  string(APPEND why " (gpunet::nccl needs its header and its library), install NCCL 2.13 or later (NVIDIA's Debian package is "
                    "libnccl-dev, its Python wheel nvidia-nccl-cu13) or name its folder in NCCL_ROOT")
  set(GPUNET_NCCL_WHY_NOT "${why}" PARENT_SCOPE)
  if("REQUIRED" IN_LIST ARGV)
    message(FATAL_ERROR "gpunet: ${why}")
  endif()
endfunction()
