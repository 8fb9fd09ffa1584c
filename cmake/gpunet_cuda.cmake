# Compiles targets as CUDA. Installed with the library: available after find_package(gpunet) and after add_subdirectory(gpunet).
cmake_policy(VERSION 3.22)

# Returns the nvcc given to CMake, else the one in PATH or in the usual folder; empty if there is none.
function(gpunet_find_nvcc result)
  set(nvcc "${CMAKE_CUDA_COMPILER}")
  if(NOT nvcc)
    set(nvcc "$ENV{CUDACXX}")
  endif()
  if(NOT nvcc)
    find_program(GPUNET_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(GPUNET_NVCC)
    if(GPUNET_NVCC)
      set(nvcc "${GPUNET_NVCC}")
    endif()
  endif()
  set(${result} "${nvcc}" PARENT_SCOPE)
endfunction()

# Enables the language CUDA in the calling directory. A macro, because CMake requires that at file scope. If the user named no
# architectures, the code is for every major one.
macro(gpunet_enable_cuda)
  if(NOT CMAKE_CUDA_COMPILER_LOADED)
    gpunet_find_nvcc(gpunet_nvcc)
    if(NOT gpunet_nvcc)
      message(FATAL_ERROR "gpunet: no nvcc found (it compiles for the device Cuda), install the CUDA toolkit 12 or later, "
                          "put nvcc in PATH or set CMAKE_CUDA_COMPILER")
    endif()
    set(CMAKE_CUDA_COMPILER "${gpunet_nvcc}" CACHE FILEPATH "The CUDA compiler")
    if(NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      if(CMAKE_VERSION VERSION_LESS 3.23)
        set(CMAKE_CUDA_ARCHITECTURES 75 80 90)
      else()
        set(CMAKE_CUDA_ARCHITECTURES all-major)
      endif()
    endif()
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
      message(FATAL_ERROR "gpunet: nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old (C++20 came with 12), "
                          "install a newer CUDA toolkit")
    endif()
  endif()
endmacro()

# Compiles .cpp sources of `target` with nvcc, all or those that are named, and links the shared CUDA runtime and cuBLAS. A
# program that links gpunet::gpunet supports the device Cuda only this way; one that links gpunet::cuda needs it for sources
# that define ops or kernels. The language is a property of the source file: it is compiled as CUDA for other targets of the
# same directory too.
macro(gpunet_cuda_sources target)
  gpunet_enable_cuda()
  gpunet_compile_as_cuda(${target} ${ARGN})
endmacro()

function(gpunet_compile_as_cuda target)
  find_package(CUDAToolkit REQUIRED)
  set(sources ${ARGN})
  if(NOT sources)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
  endif()
  set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CUDA)
  gpunet_set_cuda_properties(${target})
  target_link_libraries(${target} PRIVATE CUDA::cudart CUDA::cublas CUDA::cublasLt)
endfunction()

# C++20 and the shared CUDA runtime for the CUDA sources of `target`.
function(gpunet_set_cuda_properties target)
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
  if(CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
  else()
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  endif()
endfunction()
