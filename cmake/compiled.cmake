# gpunet::compiled: the library compiled once, one translation unit per folder of headers, from FOLDER/src.hpp. It is built only
# for targets that link it.
set(gpunet_parts core device io tensorboard ops graph nn model optim data plot train)

foreach(part IN LISTS gpunet_parts)
  set(unit ${PROJECT_BINARY_DIR}/compiled/${part}.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include <gpunet/${part}/src.hpp>\n")
  list(APPEND gpunet_units ${unit})
endforeach()

add_library(gpunet_compiled STATIC EXCLUDE_FROM_ALL ${gpunet_units})
add_library(gpunet::compiled ALIAS gpunet_compiled)
set_target_properties(gpunet_compiled PROPERTIES EXPORT_NAME compiled POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(gpunet_compiled PUBLIC GPUNET_COMPILED=1)
# Position-independent, for shared libraries of users; calls inside the library are still inlined.
target_compile_options(gpunet_compiled PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
target_link_libraries(gpunet_compiled PUBLIC gpunet)

# gpunet::cuda: the same for the policy Cuda, compiled by nvcc from FOLDER/src.cuh, beside gpunet::compiled. The units of a program
# that links it are plain C++, or CUDA where they define kernels of their own. To be called where the language CUDA is enabled.
function(gpunet_add_cuda_library)
  find_package(CUDAToolkit REQUIRED)
  foreach(part device ops nn model optim data train)
    set(unit ${PROJECT_BINARY_DIR}/compiled/${part}.cu)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include <gpunet/${part}/src.cuh>\n")
    list(APPEND units ${unit})
  endforeach()
  add_library(gpunet_cuda STATIC EXCLUDE_FROM_ALL ${units})
  add_library(gpunet::cuda ALIAS gpunet_cuda)
  set_target_properties(gpunet_cuda PROPERTIES EXPORT_NAME cuda POSITION_INDEPENDENT_CODE ON)
  gpunet_set_cuda_properties(gpunet_cuda)
  target_compile_definitions(gpunet_cuda PUBLIC GPUNET_CUDA=1)
  target_link_libraries(gpunet_cuda PUBLIC gpunet_compiled CUDA::cudart CUDA::cublas CUDA::cublasLt)
endfunction()
