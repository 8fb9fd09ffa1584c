# gpunet::compiled: the library compiled once, one translation unit per folder of headers that has a src.hpp. It is built only
# for targets that link it.

# Sets `units` to one source for each FOLDER/`file`, with the extension `extension`.
function(gpunet_add_units units file extension)
  set(include_dir ${PROJECT_SOURCE_DIR}/include)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${include_dir} ${include_dir}/gpunet/*/${file})
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "^gpunet/(.*)/.*" "${PROJECT_BINARY_DIR}/compiled/\\1.${extension}" unit ${header})
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include <${header}>\n")
    list(APPEND sources ${unit})
  endforeach()
  set(${units} ${sources} PARENT_SCOPE)
endfunction()

gpunet_add_units(gpunet_units src.hpp cpp)
add_library(gpunet_compiled STATIC EXCLUDE_FROM_ALL ${gpunet_units})
add_library(gpunet::compiled ALIAS gpunet_compiled)
set_target_properties(gpunet_compiled PROPERTIES EXPORT_NAME compiled POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(gpunet_compiled PUBLIC GPUNET_COMPILED=1)
# Position-independent, for shared libraries of users; calls inside the library are still inlined.
target_compile_options(gpunet_compiled PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
# A program gets the functions that it may call, not whole units: a third of the bytes.
if(APPLE)
  set(gpunet_gc_sections -dead_strip)
else()
  set(gpunet_gc_sections --gc-sections)
endif()
target_compile_options(gpunet_compiled PRIVATE -ffunction-sections -fdata-sections)
target_link_options(gpunet_compiled INTERFACE LINKER:${gpunet_gc_sections})
target_link_libraries(gpunet_compiled PUBLIC gpunet)

# gpunet::cuda: the same for the policy Cuda, compiled by nvcc from FOLDER/src.cuh, beside gpunet::compiled. The units of a
# program that links it are plain C++, or CUDA where they define kernels of their own. To be called where the language CUDA
# is enabled.
function(gpunet_add_cuda_library)
  find_package(CUDAToolkit REQUIRED)
  gpunet_add_units(units src.cuh cu)
  add_library(gpunet_cuda STATIC EXCLUDE_FROM_ALL ${units})
  add_library(gpunet::cuda ALIAS gpunet_cuda)
  set_target_properties(gpunet_cuda PROPERTIES EXPORT_NAME cuda POSITION_INDEPENDENT_CODE ON)
  gpunet_set_cuda_properties(gpunet_cuda)
  target_compile_definitions(gpunet_cuda PUBLIC GPUNET_CUDA=1)
  target_link_libraries(gpunet_cuda PUBLIC gpunet_compiled CUDA::cudart CUDA::cublas CUDA::cublasLt)
endfunction()
